#include "apps/saltern/operations.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/saltern/command.h"
#include "dsl/shapes.h"
#include "generators/just_in_time.h"

namespace saltern {

namespace {

constexpr int most = 1 << 20;

CLI::Option *add_extent(CLI::App &app, const std::string &name, int &value, const std::string &what) {
  return app.add_option(name, value, what)->check(CLI::Range(1, most))->capture_default_str();
}

std::string text(int64_t v) { return std::to_string(v); }

// " what value", where the value is not the usual one.
std::string unless(int usual, const char *what, int value) {
  return value == usual ? "" : std::string(" ") + what + " " + text(value);
}

struct Matmul {
  int m = 0, n = 0, k = 0, batch = 1;

  std::vector<TimedOperation> operations() const {
    const std::string label = "matmul " + text(m) + " " + text(n) + " " + text(k) + unless(1, "batch", batch);
    return {{label, "matmul", {{k, m, batch}, {n, k, batch}}, 2.0 * m * n * k * batch}};
  }
};

std::function<std::vector<TimedOperation>()> define_matmul(CLI::App &app) {
  auto s = std::make_shared<Matmul>();
  add_extent(app, "m", s->m, "Rows of the first matrix")->required();
  add_extent(app, "n", s->n, "Columns of the second matrix")->required();
  add_extent(app, "k", s->k, "Columns of the first and rows of the second")->required();
  add_extent(app, "--batch", s->batch, "Products of this size in one call");
  return [s] { return s->operations(); };
}

struct Conv2d {
  int in = 64, out = 64, size = 56, width = 0, kernel = 3, stride = 1, padding = 1, dilation = 1, batch = 1, groups = 1;
  std::string pass = "forward";

  std::vector<TimedOperation> operations() const {
    const int across = width > 0 ? width : size;
    if (in % groups || out % groups)
      throw BadInput("--groups " + text(groups) + " does not divide --in " + text(in) + " and --out " + text(out));
    const Sliding<int> s = {stride, dilation, padding, padding};
    const int64_t reach = int64_t{dilation} * (kernel - 1) + 1;
    if (reach > size + 2 * padding || reach > across + 2 * padding)
      throw BadInput("a kernel of " + text(reach) + " does not fit an image of " + text(across) + " x " + text(size) +
                     " with a padding of " + text(padding));
    const int x = window_positions(across, kernel, s), y = window_positions(size, kernel, s);
    const double flops = 2.0 * x * y * batch * out * (in / groups) * kernel * kernel;

    using generators::Call;
    using generators::CallArgument;
    const CallArgument image = {in / groups, groups, across, size, batch};
    const CallArgument weights = {in / groups, kernel, kernel, out / groups, groups};
    const CallArgument bias = {out / groups, groups};
    const CallArgument result = {out / groups, groups, x, y, batch};
    const auto sliding = [&](Call first, const Call &last) {
      for (int i = 0; i < 2; ++i)
        for (int v : {stride, dilation, padding, padding}) first.emplace_back(v);
      first.insert(first.end(), last.begin(), last.end());
      return first;
    };
    const std::string label = "conv2d " + text(kernel) + "x" + text(kernel) + " " + text(in) + "->" + text(out) + " @" +
                              (across == size ? "" : text(across) + "x") + text(size) + unless(1, "stride", stride) +
                              unless(1, "padding", padding) + unless(1, "dilation", dilation) +
                              unless(1, "batch", batch) + unless(1, "groups", groups);
    struct Pass {
      const char *name, *kernel;
      Call call;
    };
    std::vector<TimedOperation> wanted;
    for (const Pass &p : {Pass{"forward", "conv2d", sliding({image, weights, bias}, {})},
                          Pass{"gradient_x", "conv2d_gradient_x", sliding({weights, result}, {across, size})},
                          Pass{"gradient_w", "conv2d_gradient_w", sliding({image, result}, {kernel, kernel})}})
      if (pass == "all" || pass == p.name) wanted.push_back({label + " " + p.name, p.kernel, p.call, flops});
    return wanted;
  }
};

std::function<std::vector<TimedOperation>()> define_conv2d(CLI::App &app) {
  auto s = std::make_shared<Conv2d>();
  add_extent(app, "--in", s->in, "Channels of the input");
  add_extent(app, "--out", s->out, "Channels of the output");
  add_extent(app, "--size", s->size, "Height of the image, and its width unless --width is given");
  add_extent(app, "--width", s->width, "Width of the image");
  add_extent(app, "--kernel", s->kernel, "Height and width of the window");
  add_extent(app, "--stride", s->stride, "Step of the window");
  app.add_option("--padding", s->padding, "Zeros around the image")->check(CLI::Range(0, 1024))->capture_default_str();
  add_extent(app, "--dilation", s->dilation, "Distance between a window's elements");
  add_extent(app, "--batch", s->batch, "Images");
  add_extent(app, "--groups", s->groups, "Groups of channels");
  app.add_option("--pass", s->pass, "What to compute")
      ->check(CLI::IsMember({"forward", "gradient_x", "gradient_w", "all"}))
      ->capture_default_str();
  return [s] { return s->operations(); };
}

}  // namespace

const std::vector<OperationRow> &operations() {
  static const std::vector<OperationRow> rows = {
      {"matmul", "y(m, n) = sum over k of a(m, k) b(k, n)", define_matmul},
      {"conv2d", "Convolution of images, forward or a gradient", define_conv2d},
  };
  return rows;
}

}  // namespace saltern
