#pragma once
// Fashion-MNIST as programs are told where it is. They are compiled with the place of the sample, SALTERN_FASHION_SAMPLE.

#include <CLI/CLI.hpp>
#include <string>

#include "apps/exit_codes.h"
#include "runtime/data/dataset.h"

namespace saltern {

struct FashionOption {
  std::string folder;

  void add_to(CLI::App &app) {
    app.add_option(
        "--data", folder,
        "Folder with the four IDX files, gzipped or plain; else Debian's dataset-fashion-mnist, else the sample");
  }
  FashionMnist load() const {
    return on_input(
        [&] { return load_fashion_mnist(folder.empty() ? find_fashion_mnist(SALTERN_FASHION_SAMPLE) : folder); });
  }
};

}  // namespace saltern
