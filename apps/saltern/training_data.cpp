#include "apps/saltern/training_data.h"

#include <algorithm>
#include <filesystem>

#include "runtime/data/dataset.h"
#include "runtime/data/picture_folder.h"
#include "runtime/tensor/npz.h"
#include "runtime/tensor/parts.h"

namespace saltern {

namespace {

namespace fs = std::filesystem;

constexpr const char *mnist_images = "train-images-idx3-ubyte", *mnist_labels = "train-labels-idx1-ubyte";

std::string plain_or_gzipped(const std::string &folder, const char *name) {
  const std::string plain = (fs::path(folder) / name).string();
  return fs::exists(plain) ? plain : plain + ".gz";
}

struct Samples {
  Tensor x, y;
};

// As the step takes it.
Tensor converted(const Tensor &t, Type type, const char *name) {
  if (t.type() == type) return t.in_layout(Layout::row_major);
  const bool whole = !is_real(t.type());
  if (!whole && !is_real(type))
    fail("the array '", name, "' is ", facts(t.type()).name, "; the loss takes numbers of classes");
  const Tensor made = Tensor::empty(t.shape(), type);
  const std::vector<double> numbers = t.reals();
  for (size_t i = 0; i < numbers.size(); ++i)
    type == Type::i64 ? void(made.data<int64_t>()[i] = static_cast<int64_t>(numbers[i]))
                      : void(made.data<float>()[i] = static_cast<float>(numbers[i]));
  return made;
}

// An .npz with x and y, or a folder of MNIST's files, whose pixels become numbers from 0 to 1.
Samples read_samples(const std::string &path) {
  if (!fs::is_directory(path)) {
    std::map<std::string, Tensor> all = read_npz(path);
    for (const char *name : {"x", "y"})
      if (!all.count(name)) fail(path, " has no array '", name, "'");
    return {all.at("x"), all.at("y")};
  }
  const Dataset d = load_idx_dataset(plain_or_gzipped(path, mnist_images), plain_or_gzipped(path, mnist_labels), 256);
  const Tensor pixels = d.images.in_layout(Layout::row_major), x = Tensor::empty(pixels.shape());
  for (int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] = static_cast<float>(pixels.data<uint8_t>()[i]) / 255;
  return {x, d.labels};
}

void expect_fit(const Tensor &t, const Tensor &like, const char *name) {
  Shape one = t.shape(), wanted = like.shape();
  if (!one.empty()) one[0] = wanted.at(0);
  if (one != wanted)
    fail("the array '", name, "' is ", to_string(t.shape()), "; a batch of the model is ", to_string(wanted));
}

Samples samples_for(const TrainingModel &model, const std::string &path) {
  const Tensor &like_x = model.inputs()[0].second, &like_y = model.inputs()[1].second;
  Samples s = read_samples(path);
  expect_fit(s.x, like_x, "x");
  expect_fit(s.y, like_y, "y");
  if (s.x.extent(0) != s.y.extent(0)) fail("there are ", s.x.extent(0), " of x and ", s.y.extent(0), " of y");
  s = {converted(s.x, like_x.type(), "x"), converted(s.y, like_y.type(), "y")};
  if (model.named_loss().of_classes)
    for (int64_t label : s.y.integers())
      if (label < 0 || label >= model.scores()[1])
        fail("a label is ", label, "; the model has ", model.scores()[1], " classes");
  return s;
}

bool is_picture_folder(const std::string &path) {
  return fs::is_directory(path) && !fs::exists(plain_or_gzipped(path, mnist_images));
}

Source pictures_of(const PictureFolder &folder, const TrainingModel &model, const PictureOptions &options) {
  if (!model.named_loss().of_classes) fail("folders are classes, which this loss does not take; see --loss");
  const auto classes = static_cast<int64_t>(folder.classes().size());
  if (classes != model.scores()[1])
    fail("there are ", classes, " folders of classes and the model has ", model.scores()[1], "; see --replace-head");
  const Tensor &x = model.inputs()[0].second;
  const PicturesFor pictures = pictures_for({x.shape(), x.type(), {}}, options);
  Source source = folder.source(pictures.channels, pictures.sample);
  source.sample = [of = source.sample, type = model.inputs()[1].second.type()](int64_t i) {
    const Sample s = of(i);
    return Sample{s.x, Tensor::full({}, s.target.item(), type)};
  };
  return source;
}

// Batches of which damaged samples were left out, as whole ones.
Loader::Next whole_batches(const Loader::Next &next, int64_t size) {
  return [=, rest = std::optional<Examples>()]() mutable -> std::optional<Examples> {
    while (std::optional<Examples> batch = next()) {
      if (batch->size() == size) return batch;
      if (rest) {
        rest->x = joined({rest->x, batch->x}, 0);
        rest->target = joined({rest->target, batch->target}, 0);
        rest->samples.insert(rest->samples.end(), batch->samples.begin(), batch->samples.end());
      } else {
        rest = std::move(batch);
      }
      const int64_t more = rest->size() - size;
      if (more < 0) continue;
      const auto part = [&](int64_t begin, int64_t count) {
        const auto first = rest->samples.begin() + begin;
        return Examples{rest->x.slice(0, begin, count).clone(),
                        rest->target.slice(0, begin, count).clone(),
                        {first, first + count}};
      };
      const Examples whole = part(0, size);
      if (more > 0)
        rest = part(size, more);
      else
        rest.reset();
      return whole;
    }
    return std::nullopt;
  };
}

}  // namespace

TrainingData training_data(const TrainingModel &model, const std::string &path, const BatchOptions &batches,
                           const PictureOptions &pictures, bool skip_damaged) {
  if (model.inputs().size() != 2) fail("the model has ", model.inputs().size() - 1, " inputs; data are for one");
  TrainingData data;
  if (is_picture_folder(path)) {
    const PictureFolder folder(path);
    const Source source = pictures_of(folder, model, pictures);
    if (skip_damaged) data.skipped = std::make_shared<Skipped>();
    data.samples = source.size;
    data.classes = folder.classes();
    data.batches = batches_of(source, batches, {2, data.skipped});
    data.batches.from = [of = data.batches.from, size = batches.size](int64_t epoch, int64_t first) {
      return whole_batches(of(epoch, first), size);
    };
  } else {
    const Samples s = samples_for(model, path);
    data.samples = s.x.extent(0);
    data.batches = batches_of(s.x, s.y, batches);
  }
  if (data.samples < batches.size)
    fail("there are ", data.samples, " samples for batches of ", batches.size, "; --batch says how many");
  return data;
}

}  // namespace saltern
