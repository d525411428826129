// A small quantized net as a quantizer writes it, compiled: it is what the executor gives of the same graph, bit by bit, and
// within steps of the operators one by one.

#include "runtime/kernels/instruction_set.h"
#include "runtime/onnx/lower_model.h"
#include "tests/compiled_graph.h"
#include "tests/imported_model.h"

namespace saltern {
namespace {

// A quantized net with each of its layers between QuantizeLinear and DequantizeLinear.
class Net {
 public:
  explicit Net(std::string type) : type_(std::move(type)) {
    lines_ = "input x f32 [1, 3, 19, 16]\n";
    quantized("x", 0.03);
  }
  // Gives the dequantized value.
  std::string quantized(const std::string &name, double scale) {
    const std::string s = "s_" + name, z = "z_" + name;
    lines_ += "constant " + s + " f32 [] = [" + std::to_string(scale) + "]\nconstant " + z + " " + type_ + " [] = [" +
              (type_ == "u8" ? "117" : "-11") + "]\nnode QuantizeLinear(" + name + ", " + s + ", " + z + ") -> q_" +
              name + "\nnode DequantizeLinear(q_" + name + ", " + s + ", " + z + ") -> d_" + name + "\n";
    return "d_" + name;
  }
  std::string weights(const std::string &name, const Shape &shape) {
    std::string levels, scales, zeros;
    for (int64_t i = 0; i < elements(shape); ++i)
      levels += (i ? ", " : "") + std::to_string(static_cast<int>((i * 7919 + 13 * shape[0]) % 255) - 127);
    for (int64_t o = 0; o < shape[0]; ++o) {
      scales += (o ? ", " : "") + std::to_string(0.002 + 0.0001 * static_cast<double>(o % 7));
      zeros += o ? ", 0" : "0";
    }
    const std::string outputs = "[" + std::to_string(shape[0]) + "]";
    lines_ += "constant l_" + name + " i8 " + to_string(shape) + " = [" + levels + "]\nconstant s_" + name + " f32 " +
              outputs + " = [" + scales + "]\nconstant z_" + name + " i8 " + outputs + " = [" + zeros +
              "]\nnode DequantizeLinear(l_" + name + ", s_" + name + ", z_" + name + ") {axis = 0} -> " + name + "\n";
    return name;
  }
  void node(const std::string &text) { lines_ += "node " + text + "\n"; }
  Model finish(const std::string &output) const { return model_of(lines_ + "output " + output + "\n"); }

 private:
  std::string type_, lines_;
};

Model small_net(const std::string &type) {
  Net n(type);
  n.node("Conv(d_x, " + n.weights("w1", {16, 3, 3, 3}) + ") {pads = [1, 1, 1, 1], strides = [2, 2]} -> a");
  n.node("Relu(a) -> a_relu");
  n.quantized("a_relu", 0.01);
  n.node("Conv(d_a_relu, " + n.weights("w2", {16, 1, 3, 3}) + ") {pads = [1, 1, 1, 1], group = 16} -> b");
  n.quantized("b", 0.01);
  n.node("Conv(d_b, " + n.weights("w3", {16, 16, 1, 1}) + ") -> c");
  n.quantized("c", 0.02);
  n.node("Add(d_c, d_a_relu) -> sum");
  n.quantized("sum", 0.02);
  n.node("GlobalAveragePool(d_sum) -> mean");
  n.quantized("mean", 0.01);
  n.node("Flatten(d_mean) -> flat");
  n.node("QuantizeLinear(flat, s_mean, z_mean) -> q_flat");
  n.node("DequantizeLinear(q_flat, s_mean, z_mean) -> d_flat");
  n.node("Gemm(d_flat, " + n.weights("w4", {10, 16}) + ") {transB = 1} -> y");
  return n.finish(n.quantized("y", 0.004));
}

TEST(CompiledIntegers, AreThoseOfTheExecutor) {
  for (const char *type : {"u8", "i8"}) {
    SCOPED_TRACE(type);
    const Model model = small_net(type);
    const Graph graph = lower_model(optimized(with_integer_products(model)), {});
    int products = 0, others = 0;
    for (const Graph::Node &n : generators::prepared_to_compile(graph, false).nodes) {
      products += n.operation == "integer_conv2d" || n.operation == "integer_dense";
      others += n.operation == "conv2d" || n.operation == "dense" || n.operation == "matmul";
    }
    EXPECT_EQ(products, 4);
    EXPECT_EQ(others, 0);
    // Images of bytes between kernels; the mean of one; the input.
    EXPECT_LE(generators::group_nodes(generators::prepared_to_compile(graph, false)).size(), 7u);
    for (const InstructionSet set : available_instruction_sets())
      expect_right_when_compiled(graph, {std::string(name(set))});

    const HostValues given = some_inputs(model);
    const std::vector<double> want = run_model(model, given).begin()->second.tensor().reals(),
                              got = run(graph, {{"x", given.at("x").tensor()}}).begin()->second.reals();
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 2.001 * 0.004) << i;
  }
}

}  // namespace
}  // namespace saltern
