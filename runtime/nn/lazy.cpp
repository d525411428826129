#include "runtime/nn/lazy.h"

namespace saltern::nn {

RowWithLazy::RowWithLazy(const std::string &name, const std::string &first, const std::string &others, size_t rank,
                         const Forward &forward, const LayerRow::Make &make)
    : row(name, first + ", " + others, forward, make),
      lazy("Lazy" + name, others,
           {forward.called_with, [this, first, rank](Layer &self, const Arguments &in) {
              const Variable x = in.variable("input");
              const size_t dimension = rank == 0 ? x.shape().size() - 1 : x.shape().size() < rank ? 0 : 1;
              if (dimension >= x.shape().size()) in.refuse("input", "a tensor with a dimension for '" + first + "'");
              const Arguments &given = self.made_with();
              Named named = {{first, x.shape()[dimension]}};
              for (const Parameter &p : given.signature().parameters()) named[p.name] = given[p.name];
              Layer made = row.make({}, named);
              if (is_real(x.type())) convert(made, x.type());
              made.train(self.training());
              return self.become(made, std::vector<Argument>(in.values()));
            }}) {}

}  // namespace saltern::nn
