// Models as quantizers write them, with sums of integers in the place of products of dequantized numbers.

#include "tests/imported_model.h"

namespace saltern {
namespace {

// [-9, 4, ...], of `count` numbers that are not in order.
std::string numbers(int64_t count, int least, int most) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(least + static_cast<int>(i * 7919 % (most - least + 1)));
  return "[" + text + "]";
}

// x is quantized to `type`; its levels and what becomes of them are behind it.
std::string quantized_input(const std::string &shape, const std::string &type, int zero) {
  const std::string z = std::to_string(zero);
  return "input x f32 " + shape + "\nconstant xs f32 [] = [0.05]\nconstant xz " + type + " [] = [" + z +
         "]\nconstant ys f32 [] = [0.25]\nconstant yz " + type + " [] = [" + z +
         "]\nnode QuantizeLinear(x, xs, xz) -> xq\nnode DequantizeLinear(xq, xs, xz) -> xd\n";
}

std::string conv_weights(const std::string &type = "i8", int zero = 0) {
  const std::string z = std::to_string(zero);
  return "constant wq " + type + " [4, 3, 3, 3] = " + (zero ? numbers(108, 0, 255) : numbers(108, -127, 127)) +
         "\nconstant ws f32 [4] = [0.01, 0.02, 0.005, 0.04]\nconstant wz " + type + " [4] = [" + z + ", " + z + ", " +
         z + ", " + z + "]\nnode DequantizeLinear(wq, ws, wz) {axis = 0} -> w\n" +
         "constant bq i32 [4] = [100, -50, 7, 3000]\nconstant bs f32 [4] = [0.0005, 0.001, 0.00025, 0.002]\n" +
         "constant bz i32 [4] = [0, 0, 0, 0]\nnode DequantizeLinear(bq, bs, bz) {axis = 0} -> b\n";
}

const std::string ending =
    "node QuantizeLinear(y, ys, yz) -> yq\nnode DequantizeLinear(yq, ys, yz) -> out\noutput out\n";

int count(const Model &m, const std::string &operation) {
  return static_cast<int>(std::count_if(m.graph.nodes.begin(), m.graph.nodes.end(),
                                        [&](const Graph::Node &n) { return n.operation == operation; }));
}

// Results are at most a step apart, few of them that far. Gives what the pass made.
Model expect_within_a_step(const std::string &lines, double step) {
  SCOPED_TRACE(lines);
  const Model given = model_of(lines), made = without_dead_code(with_integer_products(given));
  validate_imported(made.graph);
  const HostValues inputs = some_inputs(given), want = run_model(given, inputs), got = run_model(made, inputs);
  for (const auto &[name, value] : want) {
    const std::vector<double> a = value.tensor().reals(), b = got.at(name).tensor().reals();
    EXPECT_EQ(a.size(), b.size());
    size_t apart = 0;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
      EXPECT_LE(std::fabs(a[i] - b[i]), step * 1.001) << name << " " << i;
      apart += std::fabs(a[i] - b[i]) > step / 2;
    }
    EXPECT_LE(apart, a.size() / 20);
  }
  return made;
}

TEST(IntegerProductsPass, ConvolutionsSumIntegers) {
  for (const char *type : {"u8", "i8"}) {
    const Model made =
        expect_within_a_step(quantized_input("[1, 3, 6, 7]", type, type[0] == 'u' ? 120 : -8) + conv_weights() +
                                 "node Conv(xd, w, b) {pads = [1, 1, 1, 1]} -> y\n" + ending,
                             0.25);
    EXPECT_EQ(count(made, "Conv"), 0);
    EXPECT_EQ(count(made, "ConvInteger"), 1);
    EXPECT_EQ(count(made, "Add"), 1);
    EXPECT_EQ(count(made, "Mul"), 2) << "of x, and of the sums, by the step of the result at once";
    for (const Graph::Node &n : made.graph.nodes) {
      if (n.operation != "QuantizeLinear") continue;
      EXPECT_EQ(made.graph.value(n.inputs[2]).constant.type(), Type::u8) << "kernels multiply u8 by i8";
    }
  }
}

TEST(IntegerProductsPass, AResultThatIsNotRoundedIsNear) {
  const Model made = expect_within_a_step(
      quantized_input("[1, 3, 6, 7]", "u8", 120) + conv_weights() + "node Conv(xd, w) {group = 1} -> y\noutput y\n",
      1e-4);
  EXPECT_EQ(count(made, "ConvInteger"), 1);
}

TEST(IntegerProductsPass, WeightsThatCountFromOtherThanZeroAreRight) {
  expect_within_a_step(
      quantized_input("[1, 3, 6, 7]", "u8", 120) + conv_weights("u8", 128) + "node Conv(xd, w, b) -> y\n" + ending,
      0.25);
  expect_within_a_step(
      quantized_input("[1, 3, 6, 7]", "u8", 120) + conv_weights("u8", 99) + "node Conv(xd, w, b) -> y\n" + ending,
      0.25);
}

TEST(IntegerProductsPass, MatricesSumIntegers) {
  for (const bool turned : {false, true}) {
    const std::string w =
        std::string("constant wq i8 ") + (turned ? "[5, 8]" : "[8, 5]") + " = " + numbers(40, -127, 127) +
        "\nconstant ws f32 [5] = [0.01, 0.02, 0.005, 0.04, 0.03]\nconstant wz i8 [5] = [0, 0, 0, 0, 0]\n"
        "node DequantizeLinear(wq, ws, wz) {axis = " +
        (turned ? "0" : "1") + "} -> w\nconstant b f32 [5] = [1.0, 2.0, -1.0, 0.5, 0.0]\n";
    const Model made =
        expect_within_a_step(quantized_input("[3, 8]", "u8", 100) + w +
                                 "node Gemm(xd, w, b) {transB = " + (turned ? "1" : "0") + "} -> y\n" + ending,
                             0.25);
    EXPECT_EQ(count(made, "MatMulInteger"), 1);
    if (turned) continue;
    EXPECT_EQ(count(expect_within_a_step(
                        quantized_input("[2, 3, 8]", "i8", -5) + w + "node MatMul(xd, w) -> y\n" + ending, 0.25),
                    "MatMulInteger"),
              1);
  }
}

// What is left as it was: results are the same, whatever it is.
TEST(IntegerProductsPass, OtherProductsStay) {
  const std::string x = quantized_input("[2, 8]", "u8", 100), one_scale = "constant ws f32 [] = [0.02]\n";
  // Weights that are not constant; scales along what is summed; a Gemm that is scaled.
  EXPECT_EQ(count(expect_within_a_step(x + "input v f32 [8, 3]\nnode MatMul(xd, v) -> y\n" + ending, 0.25), "MatMul"),
            1);
  EXPECT_EQ(
      count(expect_within_a_step(x + "constant wq i8 [8, 3] = " + numbers(24, -127, 127) +
                                     "\nconstant ws f32 [8] = [0.01, 0.02, 0.03, 0.04, 0.01, 0.02, 0.03, 0.04]\n"
                                     "constant wz i8 [8] = [0, 0, 0, 0, 0, 0, 0, 0]\n"
                                     "node DequantizeLinear(wq, ws, wz) {axis = 0} -> w\nnode MatMul(xd, w) -> y\n" +
                                     ending,
                                 0.25),
            "MatMul"),
      1);
  EXPECT_EQ(count(expect_within_a_step(x + one_scale + "constant wq i8 [8, 3] = " + numbers(24, -127, 127) +
                                           "\nconstant wz i8 [] = [0]\nnode DequantizeLinear(wq, ws, wz) -> w\n"
                                           "node Gemm(xd, w) {alpha = 0.5} -> y\n" +
                                           ending,
                                       0.25),
                  "Gemm"),
            1);
}

TEST(IntegerProductsPass, MovementsMoveIntegers) {
  const std::string same =
      "constant shape i64 [2] = [6, 28]\nnode MaxPool(xd) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} "
      "-> p\nnode QuantizeLinear(p, xs, xz) -> pq\nnode DequantizeLinear(pq, xs, xz) -> pd\n"
      "node Reshape(pd, shape) -> r\nnode QuantizeLinear(r, xs, xz) -> rq\n"
      "node DequantizeLinear(rq, xs, xz) -> y\noutput y\n";
  for (const char *type : {"u8", "i8"}) {
    const Model made = expect_within_a_step(quantized_input("[1, 4, 6, 7]", type, 20) + same, 0);
    EXPECT_EQ(count(made, "QuantizeLinear"), 1);
    EXPECT_EQ(count(made, "DequantizeLinear"), 1);
    EXPECT_EQ(made.graph.producer("y")->operation, "DequantizeLinear");
  }
  // Of another scale it is no movement.
  EXPECT_EQ(count(expect_within_a_step(
                      quantized_input("[4, 6]", "u8", 20) + "node Transpose(xd) {perm = [1, 0]} -> y\n" + ending, 0.25),
                  "QuantizeLinear"),
            2);
}

TEST(IntegerProductsPass, SumsOfTwoAreOneProductEach) {
  for (const char *type : {"u8", "i8"}) {
    const Model made = expect_within_a_step(
        quantized_input("[4, 60]", type, type[0] == 'u' ? 131 : -7) +
            "input v f32 [4, 60]\nconstant vs f32 [] = [0.07]\nnode QuantizeLinear(v, vs, xz) -> vq\n"
            "node DequantizeLinear(vq, vs, xz) -> vd\nnode Add(xd, vd) -> y\n" +
            ending,
        0.25);
    EXPECT_EQ(count(made, "DequantizeLinear"), 1) << "that of the result";
    EXPECT_EQ(count(made, "Mul"), 4) << "two that quantize, two that are added";
  }
}

TEST(IntegerProductsPass, WhatIsNoNumberIsTheLeast) {
  const Model given = model_of(quantized_input("[3]", "u8", 20) + "output xd\n"), made = with_integer_products(given);
  const HostValues inputs = {{"x", Tensor::of<float>({3}, {NAN, INFINITY, -INFINITY})}};
  EXPECT_EQ(run_model(made, inputs).at("xd").tensor().reals(), run_model(given, inputs).at("xd").tensor().reals());
}

TEST(IntegerProductsPass, ModelsWithoutStayAsTheyAre) {
  const Model given = model_of("input x f32 [3]\nnode Neg(x) -> y\noutput y\n");
  EXPECT_EQ(to_text(with_integer_products(given).graph), to_text(given.graph));
}

}  // namespace
}  // namespace saltern
