#pragma once
// Pictures as a model's input: what to do with them, and how they become a batch.

#include <functional>
#include <string>
#include <vector>

#include "runtime/data/png.h"
#include "runtime/graph/graph.h"

namespace CLI {
class App;
}

namespace saltern {

struct PictureOptions {
  std::string resize, crop;  // PIXELS or WIDTHxHEIGHT
  std::vector<double> mean, deviation;
  double scale = 0;    // 0: 1/255 for an input of real numbers, 1 for one of integers
  std::string layout;  // nchw or nhwc; empty: as the input's shape suggests
  bool bgr = false;

  void add_to(CLI::App &app);
};

// Throws BadInput where one of these options was given and, as `why` says, means nothing; nothing where it is empty.
void expect_no_picture_options(const CLI::App &app, const std::string &why);

bool are_pictures(const std::vector<std::string> &paths);

// A batch of these .png files for the input of that name. Throws BadInput where they do not fit it.
Tensor picture_batch(const Graph &graph, const std::string &input, const std::vector<std::string> &paths,
                     const PictureOptions &options);

// What makes a sample for an input of this value, the batch left out, of a picture. Without --resize and --crop, pictures become
// as large as the input is. Throws BadInput where that is no picture.
struct PicturesFor {
  Channels channels;
  std::function<Tensor(const Tensor &picture)> sample;
};
PicturesFor pictures_for(const Graph::Value &input, const PictureOptions &options);

}  // namespace saltern
