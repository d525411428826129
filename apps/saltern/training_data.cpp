#include "apps/saltern/training_data.h"

#include <algorithm>
#include <filesystem>

#include "runtime/data/dataset.h"
#include "runtime/data/picture_folder.h"
#include "runtime/files/hash.h"
#include "runtime/tensor/element.h"
#include "runtime/tensor/npz.h"
#include "runtime/tensor/parts.h"

namespace saltern {

namespace {

namespace fs = std::filesystem;

struct MnistFiles {
  std::string images, labels;

  MnistFiles(const std::string &folder, DataFiles::Part part) {
    const std::string name = part == DataFiles::Part::training ? "train" : "t10k";
    images = plain_or_gzipped(folder, name + "-images-idx3-ubyte");
    labels = plain_or_gzipped(folder, name + "-labels-idx1-ubyte");
  }
  static std::string plain_or_gzipped(const std::string &folder, const std::string &name) {
    const std::string plain = (fs::path(folder) / name).string();
    return fs::exists(plain) ? plain : plain + ".gz";
  }
};

struct Samples {
  Tensor x, y;
};

// As the step takes it.
Tensor converted(const Tensor &t, Type type, const char *name) {
  if (t.type() == type) return t.in_layout(Layout::row_major);
  const bool whole = !is_real(t.type());
  if (!whole && !is_real(type))
    fail("the array '", name, "' is ", facts(t.type()).name, "; expected whole numbers, ", facts(type).name);
  const Tensor made = Tensor::empty(t.shape(), type);
  const std::vector<double> numbers = t.reals();
  for (size_t i = 0; i < numbers.size(); ++i) set_element(type, made.raw(), static_cast<int64_t>(i), numbers[i]);
  return made;
}

// An .npz with x and y, or a folder of MNIST's files, whose pixels become numbers from 0 to 1.
Samples read_samples(const std::string &path, DataFiles::Part part) {
  if (!fs::is_directory(path)) {
    std::map<std::string, Tensor> all = read_npz(path);
    for (const char *name : {"x", "y"}) {
      if (!all.count(name)) fail(path, " has no array '", name, "'");
      if (all.at(name).rank() == 0) fail(path, ": the array '", name, "' is one number; expected one for each sample");
    }
    return {all.at("x"), all.at("y")};
  }
  const MnistFiles files(path, part);
  const Dataset d = load_idx_dataset(files.images, files.labels, 256);
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

Samples samples_for(const BatchForm &form, Samples s) {
  expect_fit(s.x, form.x, "x");
  expect_fit(s.y, form.labels, "y");
  if (s.x.extent(0) != s.y.extent(0)) fail("there are ", s.x.extent(0), " of x and ", s.y.extent(0), " of y");
  s = {converted(s.x, form.x.type(), "x"), converted(s.y, form.labels.type(), "y")};
  if (form.classes > 0)
    for (int64_t label : s.y.integers())
      if (label < 0 || label >= form.classes) fail("a label is ", label, "; the net has ", form.classes, " classes");
  return s;
}

// Batches of which damaged samples were left out, as whole ones.
Loader::Next whole_batches(const Loader::Next &next, int64_t size) {
  return [=, rest = std::optional<Examples>(), none = true]() mutable -> std::optional<Examples> {
    while (std::optional<Examples> batch = next()) {
      none = none && batch->size() < size;
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
      none = false;
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
    if (none) fail("damaged samples leave no whole batch; a smaller --batch may do");
    return std::nullopt;
  };
}

// Batches that come out of others have other numbers: whoever resumes counts them.
Loader in_whole_batches(Loader loader, int64_t size) {
  loader.may_be_fewer = true;
  loader.from = [of = loader.from, size](int64_t epoch, int64_t first) {
    const Loader::Next next = whole_batches(of(epoch, 0), size);
    for (int64_t i = 0; i < first; ++i) next();
    return next;
  };
  return loader;
}

}  // namespace

bool DataFiles::are_pictures(const std::string &path, Part part) {
  return fs::is_directory(path) && !fs::exists(MnistFiles(path, part).images);
}

DataFiles::DataFiles(std::string path, Part part)
    : path_(std::move(path)), is_folder_of_pictures_(are_pictures(path_, part)) {
  if (is_folder_of_pictures_) return;
  const Samples s = read_samples(path_, part);
  x_ = s.x;
  y_ = s.y;
}

Shape DataFiles::sample(const DataOptions &options) const {
  if (is_folder_of_pictures_)
    return options.transform ? options.transform(PictureFolder(path_).source().sample(0).x, 0, 0).shape() : Shape();
  const Shape raw(x_.shape().begin() + 1, x_.shape().end());
  return options.transform ? options.transform(Tensor::zeros(raw), 0, 0).shape() : raw;
}

Source DataFiles::pictures(const BatchForm &form, const DataOptions &options) const {
  const PictureFolder folder(path_);
  if (form.classes == 0) fail("folders are classes, which this loss does not take; see --loss");
  const auto classes = static_cast<int64_t>(folder.classes().size());
  if (classes != form.classes)
    fail("there are ", classes, " folders of classes and the model has ", form.classes, "; see --replace-head");
  const PicturesFor wanted = pictures_for({form.x.shape(), form.x.type(), {}}, options.pictures);
  Source source = options.transform ? folder.source(wanted.channels) : folder.source(wanted.channels, wanted.sample);
  source.sample = [of = source.sample, type = form.labels.type()](int64_t i) {
    const Sample s = of(i);
    return Sample{s.x, Tensor::full({}, s.target.item(), type)};
  };
  return source;
}

// Of arrays as they are, before transforms.
Source DataFiles::rows(const BatchForm &form) const {
  Shape batch = x_.shape();
  batch[0] = form.x.extent(0);
  const Samples s = samples_for({Tensor::outline(batch, form.x.type()), form.labels, form.classes}, {x_, y_});
  return {s.x.extent(0),
          [s](int64_t i) {
            return Sample{taken(s.x, 0, i), taken(s.y, 0, i)};
          },
          [](int64_t i) { return std::to_string(i); }};
}

int64_t DataFiles::size() const { return is_folder_of_pictures_ ? PictureFolder(path_).source().size : x_.extent(0); }

std::string DataFiles::hash() const {
  std::string all;
  if (is_folder_of_pictures_) {
    const Source source = PictureFolder(path_).source();
    for (int64_t i = 0; i < source.size; ++i) all += fs::path(source.name(i)).lexically_relative(path_).string() + "\n";
    return content_hash(all);
  }
  for (const Tensor &t : {x_, y_}) {
    const Tensor dense = t.in_layout(Layout::row_major);
    all += content_hash({static_cast<const char *>(dense.raw()), static_cast<size_t>(dense.bytes())});
  }
  return content_hash(all);
}

TrainingData DataFiles::batches(const BatchForm &form, BatchOptions batches, const DataOptions &options) const {
  TrainingData data;
  batches.keep_smaller_last = !options.whole_batches;
  if (options.transform) {
    Shape one = sample(options), wanted(form.x.shape().begin() + 1, form.x.shape().end());
    if (one != wanted)
      fail(path_, ": transforms make samples of ", to_string(one), "; the net takes ", to_string(wanted));
  }
  if (is_folder_of_pictures_ || options.transform) {
    if (options.skip_damaged) data.skipped = std::make_shared<Skipped>();
    if (is_folder_of_pictures_) data.classes = PictureFolder(path_).classes();
    data.batches = batches_of(is_folder_of_pictures_ ? pictures(form, options) : rows(form), batches,
                              {2, data.skipped, options.transform});
    if (options.whole_batches && options.skip_damaged) data.batches = in_whole_batches(data.batches, batches.size);
  } else {
    const Samples s = samples_for(form, {x_, y_});
    data.batches = batches_of(s.x, s.y, batches);
  }
  data.samples = batches.order ? static_cast<int64_t>(batches.order(0).size()) : size();
  if (data.batches.batches < 1)
    fail("there are ", data.samples, " samples for batches of ", batches.size, "; --batch says how many");
  return data;
}

}  // namespace saltern
