// `saltern run` takes inputs from folders, .npy, .npz and pictures, and gives outputs in the same forms; what is wrong
// with them is said, with exit code 2.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/data/png.h"
#include "runtime/graph/model_file.h"
#include "runtime/onnx/tensor_proto.h"
#include "runtime/tensor/npy.h"
#include "runtime/tensor/npz.h"
#include "tests/apps/run_program.h"
#include "tests/apps/small_models.h"

namespace saltern {
namespace {

using nlohmann::json;

class Run : public testing::Test {
 protected:
  Run() { save_onnx(model, scores_model()); }

  Said run(const std::string &arguments) { return run_program("saltern", "run --threads 1 " + arguments); }
  void expect_bad(const std::string &arguments, const std::vector<std::string> &parts) {
    const Said said = run(arguments);
    EXPECT_EQ(said.code, 2) << arguments << ": " << said.all;
    for (const std::string &part : parts) EXPECT_TRUE(contains(said.all, part));
  }

  const ScratchFolder folder;
  const std::string model = folder.file("model.onnx");
  const Tensor x = counting({2, 3}, 0.5), b = counting({4});
};

TEST_F(Run, TakesArraysByNameWithAWordBeforeItOrByNumber) {
  const std::string in = folder.file("in.npz"), out = folder.file("out.npz");
  for (const auto &[first, second] :
       {std::pair("x", "b"), std::pair("in:x", "in:b"), std::pair("in_0", "in_1"), std::pair("input_0", "input_1")}) {
    write_npz(in, {{first, x}, {second, b}}, true);
    const Said said = run(model + " --inputs " + in + " --outputs " + out);
    ASSERT_EQ(said.code, 0) << said.all;
    EXPECT_EQ(said.all, "");
    expect_same(read_npz(out).at("scores"), scores_of(x, b));
  }
}

TEST_F(Run, TakesFoldersOfEitherKindAndWritesThem) {
  const std::string in = folder.file("in"), out = folder.file("out/put");
  std::filesystem::create_directory(in);
  write_npy(in + "/x.npy", x);
  write_npy(in + "/input_1.npy", b);
  ASSERT_EQ(run(model + " --inputs " + in + " --outputs " + out).code, 0);
  expect_same(read_value_file(out + "/output_0.pb", Graph::Container::tensor).tensor(), scores_of(x, b));
  ASSERT_EQ(run(model + " --inputs " + in + " --format npy --outputs " + out).code, 0);
  expect_same(read_npy(out + "/output_0.npy"), scores_of(x, b));
}

TEST_F(Run, ABatchGoesOnBehindAModelThatFails) {
  const std::string in = folder.file("in.npz"), bad = folder.file("bad"), good = folder.file("good");
  write_npz(in, {{"x", x}, {"b", b}});
  const std::string list = folder.write(
      "list", folder.file("none.onnx") + "\t" + in + "\t" + bad + "\n" + model + "\t" + in + "\t" + good + "\n");
  const Said said = run_program("saltern", "run-batch " + list);
  expect_same(read_value_file(good + "/output_0.pb", Graph::Container::tensor).tensor(), scores_of(x, b));
  EXPECT_TRUE(contains(bytes_of_file(bad + "/log"), "none.onnx")) << said.all;
}

// Names in other encodings are no reason to lose the line that tells of what was done.
TEST_F(Run, JsonIsWrittenOfNamesInAnyEncoding) {
  const Said said = run_program("saltern", "convert " + model + " --json -o '" + folder.file("c\xff.onnx") + "'");
  EXPECT_EQ(said.code, 0) << said.all;
  EXPECT_FALSE(nlohmann::json::parse(said.out, nullptr, false).is_discarded()) << said.out;
}

TEST_F(Run, ASavedNetRunsToo) {
  const std::string net = folder.file("net.safetensors"), in = folder.file("x.npy"), out = folder.file("y.npz");
  save_model(net, small_net());
  write_npy(in, counting({5, 3}));
  const Said said = run(net + " --inputs " + in + " --outputs " + out);
  ASSERT_EQ(said.code, 0) << said.all;
  const Tensor y = read_npz(out).at("y"), w = counting({2, 3}), bias = counting({2}), given = counting({5, 3});
  for (int64_t n = 0; n < 5; ++n)
    for (int64_t o = 0; o < 2; ++o) {
      float sum = bias.at<float>({o});
      for (int64_t i = 0; i < 3; ++i) sum += given.at<float>({n, i}) * w.at<float>({o, i});
      EXPECT_NEAR(y.at<float>({n, o}), std::max(sum, 0.0F), 1e-5);
    }
}

TEST_F(Run, TellsOfTheRunInOneLineOfJson) {
  write_npz(folder.file("in.npz"), {{"x", x}, {"b", b}});
  const Said said = run(model + " --json --inputs " + folder.file("in.npz"));
  ASSERT_EQ(said.code, 0) << said.all;
  EXPECT_EQ(std::count(said.out.begin(), said.out.end(), '\n'), 1);
  const json line = json::parse(said.out);
  EXPECT_EQ(line["inputs"], json::parse(R"([{"name": "x", "type": "f32", "shape": [2, 3]},
                                            {"name": "b", "type": "f32", "shape": [4]}])"));
  EXPECT_EQ(line["outputs"], json::parse(R"([{"name": "scores", "type": "f32", "shape": [2, 4]}])"));
  EXPECT_EQ(line["kernels"], "library");
  EXPECT_GT(line["run_ms"].get<double>(), 0);
  EXPECT_GT(line["load_ms"].get<double>(), 0);
}

TEST_F(Run, TellsTheBestClassesWithTheirNames) {
  const Tensor scores = scores_of(x, b);
  write_npz(folder.file("in.npz"), {{"x", x}, {"b", b}});
  const std::string labels = folder.write("labels.txt", "ant\nbee\r\ncat\ndog\n"),
                    names[] = {"ant", "bee", "cat", "dog"};
  const std::string call = model + " --top 2 --labels " + labels + " --inputs " + folder.file("in.npz");
  const json top = json::parse(run(call + " --json").out)["top"];
  ASSERT_EQ(top.size(), 2u);
  for (int64_t n = 0; n < 2; ++n) {
    int64_t best = 0;
    for (int64_t c = 1; c < 4; ++c)
      if (scores.at<float>({n, c}) > scores.at<float>({n, best})) best = c;
    const json &row = top[static_cast<size_t>(n)];
    ASSERT_EQ(row.size(), 2u);
    EXPECT_EQ(row[0]["class"], best);
    EXPECT_EQ(row[0]["label"], names[best]);
    EXPECT_GE(row[0]["score"], row[1]["score"]);
    EXPECT_TRUE(contains(run(call).out, names[best]));
  }
  expect_bad(model + " --top 2 --labels " + folder.write("few.txt", "one\n") + " --inputs " + folder.file("in.npz"),
             {"1 labels for 4 classes"});
}

TEST_F(Run, InputsThatAreMissingOrWrongAreNamedWithWhatIsExpected) {
  const std::string in = folder.file("in.npz");
  expect_bad(model, {"--inputs", "x f32 [batch, 3]", "b f32 [4]"});
  expect_bad(model + " --inputs " + folder.file("absent"), {folder.file("absent")});
  write_npz(in, {{"x", x}});
  expect_bad(model + " --inputs " + in, {"'b'", in});
  write_npz(in, {{"x", x}, {"b", b}, {"bias", b}});
  expect_bad(model + " --inputs " + in, {"'bias'", "b f32 [4]"});
  write_npz(in, {{"x", x}, {"b", Tensor::zeros({4}, Type::f64)}});
  expect_bad(model + " --inputs " + in, {"'b' is f64", "f32 [4]"});
  write_npz(in, {{"x", counting({2, 5})}, {"b", b}});
  expect_bad(model + " --inputs " + in, {"'x'", "[2, 5]"});
  write_npy(folder.file("x.npy"), x);
  expect_bad(model + " --inputs " + folder.file("x.npy"), {"one value", "b f32 [4]"});
  expect_bad(model + " --inputs " + folder.write("in.txt", "1 2 3"), {"in.txt"});
  expect_bad(model + " --inputs " + folder.write("bad.npz", "PK"), {"bad.npz"});
}

class RunOnPictures : public Run {
 protected:
  // Six pixels by four; every channel of every pixel another value.
  RunOnPictures() {
    picture = Tensor::empty({4, 6, 3}, Type::u8);
    for (int64_t i = 0; i < picture.size(); ++i) picture.data<uint8_t>()[i] = static_cast<uint8_t>(i * 3);
    write_png(path, picture);
  }
  Tensor result(const Model &m, const std::string &arguments) {
    save_onnx(folder.file("image.onnx"), m);
    const Said said = run(folder.file("image.onnx") + " --outputs " + folder.file("out.npz") + " " + arguments);
    EXPECT_EQ(said.code, 0) << said.all;
    return said.code == 0 ? read_npz(folder.file("out.npz")).at("same") : Tensor();
  }
  double pixel(int64_t y, int64_t x, int64_t c) const { return picture.at<uint8_t>({y, x, c}); }

  Tensor picture;
  const std::string path = folder.file("picture.png");
};

TEST_F(RunOnPictures, ChannelsComeFirstAndValuesAreScaled) {
  const Tensor y = result(identity_model({1, 3, 4, 6}), "--inputs " + path);
  for (int64_t h = 0; h < 4; ++h)
    for (int64_t w = 0; w < 6; ++w)
      for (int64_t c = 0; c < 3; ++c) ASSERT_NEAR(y.at<float>({0, c, h, w}), pixel(h, w, c) / 255, 1e-6);
}

TEST_F(RunOnPictures, MeanDeviationScaleAndOrderOfChannelsAreApplied) {
  const Tensor y =
      result(identity_model({-1, 3, 4, 6}), "--scale 0.5 --mean 1,2,3 --std 2,4,8 --bgr --inputs " + path + " " + path);
  ASSERT_EQ(y.extent(0), 2);
  const double mean[] = {1, 2, 3}, deviation[] = {2, 4, 8};
  for (int64_t c = 0; c < 3; ++c)
    ASSERT_NEAR(y.at<float>({1, c, 3, 5}), (pixel(3, 5, 2 - c) * 0.5 - mean[c]) / deviation[c], 1e-5);
}

TEST_F(RunOnPictures, BytesStayBytesAndChannelsMayBeLast) {
  const Tensor y = result(identity_model({1, 4, 6, 3}, Type::u8), "--inputs " + path);
  for (int64_t i = 0; i < picture.size(); ++i) ASSERT_EQ(y.data<uint8_t>()[i], picture.data<uint8_t>()[i]);
  EXPECT_EQ(result(identity_model({1, -1, -1, -1}), "--layout nhwc --inputs " + path).shape(), (Shape{1, 4, 6, 3}));
}

TEST_F(RunOnPictures, ResizingKeepsProportionsAndCroppingTheMiddle) {
  // The shorter side becomes 8 pixels; then the middle.
  EXPECT_EQ(result(identity_model({1, 3, -1, -1}), "--resize 8 --inputs " + path).shape(), (Shape{1, 3, 8, 12}));
  EXPECT_EQ(result(identity_model({1, 3, -1, -1}), "--resize 3x5 --inputs " + path).shape(), (Shape{1, 3, 5, 3}));
  const Tensor y = result(identity_model({1, 3, 2, 2}), "--crop 2 --scale 1 --inputs " + path);
  EXPECT_EQ(y.at<float>({0, 1, 0, 0}), pixel(1, 2, 1));
  EXPECT_EQ(y.at<float>({0, 1, 1, 1}), pixel(2, 3, 1));
}

TEST_F(RunOnPictures, PicturesThatDoNotFitAreNamed) {
  const std::string image = folder.file("image.onnx");
  save_onnx(image, identity_model({1, 3, 8, 8}));
  expect_bad(image + " --inputs " + path, {path, "6 x 4", "--resize", "[1, 3, 8, 8]"});
  expect_bad(image + " --crop 9 --inputs " + path, {path, "cropped to 9 x 9"});
  expect_bad(image + " --resize 8x --inputs " + path, {"--resize 8x"});
  expect_bad(image + " --resize 8x8 --mean 1,2 --inputs " + path, {"2 means"});
  expect_bad(image + " --resize 8x8 --inputs " + path + " " + path, {"2 pictures"});
  expect_bad(model + " --inputs " + path, {"one input", "b f32 [4]"});
}

}  // namespace
}  // namespace saltern
