#pragma once
// What the tables say of a name: nothing of it is written down for the occasion.

#include <memory>
#include <string>

#include "apps/saltern/coverage_lists.h"

namespace saltern {

// Empty where that is not asked of such a row, or nothing is known.
struct CoverageFacts {
  bool works = false;                               // it is here, with the meaning that is expected
  std::string here;                                 // "layer Linear"
  std::string algorithm;                            // formula; kernel, host or graphs: by these alone
  std::string gradient;                             // derived, explicit or none
  std::string kernel;                               // of the library: yes, partly or no
  std::string gpu, cpp, python, onnx_in, onnx_out;  // yes or no
  std::string note;
};

class Coverage {
 public:
  Coverage();
  ~Coverage();
  CoverageFacts of(const NameList &list, const ListedName &name) const;

 private:
  struct Tables;
  const std::unique_ptr<const Tables> tables_;
};

}  // namespace saltern
