#include "apps/saltern/picture_inputs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "apps/saltern/command.h"
#include "apps/saltern/config_file.h"
#include "apps/saltern/value_facts.h"
#include "runtime/data/jpeg.h"
#include "runtime/onnx/prepare_picture.h"
#include "runtime/tensor/element.h"

namespace saltern {

namespace {

// 224 or 320x240; a height of 0 where only one number is given.
PictureSize parsed_size(const std::string &text, const std::string &flag) {
  PictureSize size;
  if (text.empty()) return size;
  const char *begin = text.data(), *end = begin + text.size();
  auto [at, error] = std::from_chars(begin, end, size.width);
  bool good = error == std::errc() && size.width > 0;
  if (good && at != end) {
    good = *at == 'x';
    const auto second = std::from_chars(at + 1, end, size.height);
    good = good && second.ec == std::errc() && second.ptr == end && size.height > 0;
  }
  if (!good) throw BadInput(flag + " " + text + ": expected PIXELS or WIDTHxHEIGHT");
  return size;
}

// Where an input has its batch, channels, height and width; -1: nowhere.
struct Dimensions {
  int batch, channels, height, width;
};

Dimensions dimensions_of(const Graph::Value &v, const std::string &layout) {
  const auto rank = static_cast<int>(v.shape.size());
  const int first = rank - 3;  // without a batch, it is 0
  // How much an extent looks like channels.
  const auto channels = [&](int d) {
    const int64_t e = v.shape[static_cast<size_t>(d)];
    return e == 1 || e == 3 ? 2 : e == 4 ? 1 : 0;
  };
  const bool last = layout.empty() ? channels(rank - 1) > channels(first) : layout == "nhwc";
  return {first - 1, last ? rank - 1 : first, last ? first : first + 1, last ? first + 1 : first + 2};
}

int64_t extent(const Graph::Value &v, int d) { return d < 0 ? 1 : v.shape[static_cast<size_t>(d)]; }

Channels channels_for(int64_t wanted) {
  return wanted == 1 ? Channels::grey : wanted == 4 ? Channels::as_stored : Channels::rgb;
}

Preparation preparation(const PictureOptions &o, Type type) {
  Preparation how;
  how.resize = parsed_size(o.resize, "--resize");
  how.crop = parsed_size(o.crop, "--crop");
  if (how.crop.height == 0) how.crop.height = how.crop.width;
  how.scale = o.scale != 0 ? o.scale : is_real(type) ? how.scale : 1;
  how.mean = o.mean;
  how.deviation = o.deviation;
  how.reverse_channels = o.bgr;
  return how;
}

Tensor prepared_file(const std::string &path, Channels channels, const Preparation &how) {
  const Tensor picture = on_input([&] { return read_picture(path, {channels}); });
  try {
    return prepared(picture, how);
  } catch (const Error &e) {
    throw BadInput(path + ": " + e.what());
  }
}

// Pixels (height, width, channels) as number n of a batch.
void put(const Tensor &batch, int64_t n, const Tensor &pixels, const Dimensions &d) {
  const auto stride = [&](int place) { return place < 0 ? 0 : batch.strides()[static_cast<size_t>(place)]; };
  const float *from = pixels.data<float>();
  for (int64_t y = 0; y < pixels.extent(0); ++y)
    for (int64_t x = 0; x < pixels.extent(1); ++x)
      for (int64_t c = 0; c < pixels.extent(2); ++c, ++from)
        set_element(batch.type(), batch.raw(),
                    n * stride(d.batch) + y * stride(d.height) + x * stride(d.width) + c * stride(d.channels),
                    is_real(batch.type()) ? *from : std::round(*from));
}

}  // namespace

namespace {
constexpr const char *group = "Pictures";
}

void expect_no_picture_options(const CLI::App &app, const std::string &why) {
  if (why.empty()) return;
  for (const CLI::Option *o : app.get_options([](const CLI::Option *each) { return each->get_group() == group; }))
    if (is_given(*o)) throw BadInput(o->get_name() + ": " + why);
}

void PictureOptions::add_to(CLI::App &app) {
  app.add_option("--resize", resize, "Make the shorter side so many pixels, or the picture WIDTHxHEIGHT")->group(group);
  app.add_option("--crop", crop, "Then take PIXELS by PIXELS, or WIDTHxHEIGHT, from the middle")->group(group);
  app.add_option("--scale", scale, "What values of 0 to 255 are multiplied by; by default, 1/255 for real inputs")
      ->group(group);
  app.add_option("--mean", mean, "What is subtracted then, one for each channel: 0.485,0.456,0.406")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--std", deviation, "What is divided by then, one for each channel: 0.229,0.224,0.225")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--layout", layout, "The order of the input: nchw or nhwc; by default, as its shape suggests")
      ->check(CLI::IsMember({"nchw", "nhwc"}))
      ->group(group);
  app.add_flag("--bgr", bgr, "Blue first, not red")->group(group);
}

bool are_pictures(const std::vector<std::string> &paths) {
  const auto is_picture = [](const std::string &p) {
    const std::string ending = std::filesystem::path(p).extension().string();
    return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
  };
  return !paths.empty() && std::all_of(paths.begin(), paths.end(), is_picture);
}

Tensor picture_batch(const Graph &graph, const std::string &input, const std::vector<std::string> &paths,
                     const PictureOptions &o) {
  const Graph::Value &v = graph.value(input);
  const std::string about = "the input" + value_lines(graph, {input});
  if (!v.ranked || v.shape.size() < 3 || v.shape.size() > 4 || v.container != Graph::Container::tensor ||
      v.type == Type::text)
    throw BadInput(about + "\nis no picture: give .npy, .npz or .pb");
  const Dimensions d = dimensions_of(v, o.layout);
  const auto count = static_cast<int64_t>(paths.size());
  if (extent(v, d.batch) >= 0 && extent(v, d.batch) != count)
    throw BadInput(std::to_string(count) + " pictures for " + about);
  const Preparation how = preparation(o, v.type);

  Tensor batch;
  for (int64_t n = 0; n < count; ++n) {
    const std::string &path = paths[static_cast<size_t>(n)];
    const Tensor pixels = prepared_file(path, channels_for(extent(v, d.channels)), how);
    Shape shape = v.shape;
    if (d.batch >= 0) shape[static_cast<size_t>(d.batch)] = count;
    for (const auto &[place, e] : {std::pair(d.height, 0), std::pair(d.width, 1), std::pair(d.channels, 2)}) {
      int64_t &wanted = shape[static_cast<size_t>(place)];
      if (wanted >= 0 && wanted != pixels.extent(e))
        throw BadInput(path + " is " + std::to_string(pixels.extent(1)) + " x " + std::to_string(pixels.extent(0)) +
                       " pixels of " + std::to_string(pixels.extent(2)) +
                       " channels (see --resize, --crop and --layout) for " + about);
      wanted = pixels.extent(e);
    }
    if (!batch.defined()) batch = Tensor::empty(shape, v.type);
    if (batch.shape() != shape)
      throw BadInput(path + " has another size than " + paths[0] + ": see --resize and --crop");
    put(batch, n, pixels, d);
  }
  return batch;
}

PicturesFor pictures_for(const Graph::Value &v, const PictureOptions &o) {
  if (v.shape.size() != 4 || !is_real(v.type))
    throw BadInput("an input of " + std::string(facts(v.type).name) + to_string(v.shape) + " is no picture");
  const Dimensions d = dimensions_of(v, o.layout);
  Preparation how = preparation(o, v.type);
  if (how.resize.width == 0 && how.crop.width == 0) how.resize = {extent(v, d.width), extent(v, d.height)};
  Shape shape = v.shape;
  shape[0] = 1;
  return {channels_for(extent(v, d.channels)), [=, type = v.type](const Tensor &picture) {
            const Tensor pixels = prepared(picture, how), one = Tensor::empty(shape, type);
            if (pixels.shape() != Shape{extent(v, d.height), extent(v, d.width), extent(v, d.channels)})
              fail("it is ", pixels.extent(1), " x ", pixels.extent(0), " pixels of ", pixels.extent(2),
                   " channels for an input of ", to_string(shape));
            put(one, 0, pixels, d);
            return one.reshaped({shape.begin() + 1, shape.end()});
          }};
}

}  // namespace saltern
