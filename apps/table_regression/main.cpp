// Learns a column of a table from the others.
//   table_regression train [TABLE.csv --target price] -o DIR    writes model.safetensors, columns.json, predictions.png,
//                                                               training.json; without a table, one that it makes itself
//   table_regression predict DIR NEW.csv OUT.csv                what the net says of the rows of another table

#include <cmath>

#include "apps/table_regression/encoding.h"
#include "apps/table_regression/flats.h"
#include "apps/table_regression/least_squares.h"
#include "apps/training_program.h"
#include "runtime/data/png.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/open_sizes.h"
#include "runtime/graph/trace.h"
#include "runtime/metrics/metric.h"
#include "runtime/optim/schedules.h"
#include "runtime/training/all.h"

namespace {

using namespace saltern;

// Of columns: f32 (columns).
struct Moments {
  Tensor mean, variance;

  explicit Moments(const Tensor &x) : mean(Tensor::zeros({x.extent(1)})), variance(Tensor::zeros({x.extent(1)})) {
    const auto rows = static_cast<double>(x.extent(0));
    for (int64_t c = 0; c < x.extent(1); ++c) {
      double sum = 0, squares = 0;
      const auto at = [&](int64_t r) { return static_cast<double>(x.data<float>()[r * x.extent(1) + c]); };
      for (int64_t r = 0; r < x.extent(0); ++r) sum += at(r) / rows;
      for (int64_t r = 0; r < x.extent(0); ++r) squares += std::pow(at(r) - sum, 2) / rows;
      mean.data<float>()[c] = static_cast<float>(sum);
      variance.data<float>()[c] = static_cast<float>(squares > 0 ? squares : 1);  // a column that is always the same
    }
  }
  nn::Layer standardising(bool back = false) const { return nn::Normalization(mean, variance, 1, back); }
};

nlohmann::json scores(const Tensor &predicted, const Tensor &wanted) {
  const auto score = [&](const char *name) {
    metrics::Metric m = metrics::metric(name);
    m.update(predicted.reshaped({predicted.size()}), wanted.reshaped({wanted.size()}));
    return m.value();
  };
  return {{"r2", score("R2Score")}, {"mean_absolute_error", score("MeanAbsoluteError")}};
}

struct TrainCommand {
  ProgramOptions training = {"table_regression", /*epochs=*/60, /*batch=*/32, /*rate=*/5e-3};
  std::string table, target;
  std::vector<std::string> left_out, words;
  std::vector<int64_t> hidden = {64, 64};
  double test_part = 0.2;

  explicit TrainCommand(CLI::App &app) {
    training.add_to(app);
    app.add_option("table", table, "CSV file whose first line has the names of columns")->check(CLI::ExistingFile);
    app.add_option("--target", target, "The column to learn; by default the last");
    app.add_option("--without", left_out, "Columns to leave out")->delimiter(',');
    app.add_option("--words", words, "Columns that are of words though they look like numbers, such as codes")
        ->delimiter(',');
    app.add_option("--hidden", hidden, "Sizes of the hidden layers")
        ->delimiter(',')
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    app.add_option("--test", test_part, "The part of the rows that is kept for testing")
        ->check(CLI::Range(0.01, 0.9))
        ->capture_default_str();
  }

  Sequential hidden_layers(int64_t features) const {
    Sequential net;
    for (int64_t size : hidden) {
      net.add(nn::Linear(features, size));
      net.add(nn::SiLU());
      features = size;
    }
    net.add(nn::Linear(features, 1));
    return net;
  }

  // Rows of the table, shuffled: those to train on, and those that are kept for testing.
  struct Rows {
    Encoding encoding;
    Tensor x, y, test_x, test_y;
  };
  Rows read(const std::string &file) const {
    CsvOptions csv;
    csv.words = {words.begin(), words.end()};
    const Table t = read_csv(file, csv);
    const Encoding encoding = encoding_of(t, file, target.empty() ? t.names.back() : target, left_out);
    try {
      to_json(encoding).dump();
    } catch (const nlohmann::json::exception &) {
      fail(file, " is not in UTF-8, which columns.json has to be");
    }
    const Tensor x = encoded(encoding, t, file), y = targets(encoding, t, file);
    const std::vector<int64_t> order = shuffled(y.extent(0), training.seed, 0);
    const auto tested = static_cast<int64_t>(std::lround(test_part * static_cast<double>(order.size())));
    if (tested < 2 || y.extent(0) - tested < 2)
      fail(file, " has ", order.size(), " rows: too few to train on some and test on others");
    const std::vector<int64_t> test(order.begin(), order.begin() + tested), train(order.begin() + tested, order.end());
    return {encoding, rows_at(x, train), rows_at(y, train), rows_at(x, test), rows_at(y, test)};
  }

  int run() const {
    training.begin();
    std::string file = table;
    if (file.empty()) write_atomically(file = training.file("flats.csv"), flats_csv(1500, /*seed=*/1));
    const Rows rows = on_input([&] { return read(file); });
    nn::Layer standardise = Moments(rows.x).standardising(), standardise_y = Moments(rows.y).standardising(),
              back = Moments(rows.y).standardising(/*back=*/true);
    const Tensor x = standardise(rows.x).value(), test_x = standardise(rows.test_x).value();
    const Loader train = batches_of(x, standardise_y(rows.y).value(), training.shuffled()),
                 test = batches_of(test_x, standardise_y(rows.test_y).value(), ProgramOptions::in_order());

    nn::manual_seed(training.seed);
    Sequential net = hidden_layers(rows.encoding.features());
    AdamW optimizer(net, {training.rate});
    TrainerOptions options;
    options.epochs = training.epochs;
    options.rate = [falling = schedule("CosineAnnealingLR", {{"T_max", training.epochs * train.batches}}),
                    rate = training.rate](int64_t step) { return falling(rate, step); };
    Trainer trainer(net, mean_squared_error, optimizer, options);
    if (!training.json) trainer.add(std::make_shared<ProgressBar>());
    trainer.fit(train, test);

    const Tensor said = back(trainer.predict(test)).value(), line = LeastSquares(x, rows.y).predict(test_x);
    // Means and deviations are layers of what is saved, which therefore takes and gives numbers as tables have them.
    Sequential whole(standardise, net, back);
    save_model(training.file("model.safetensors"), trace(whole, {"batch", rows.encoding.features()}));
    write_atomically(training.file("columns.json"), to_json(rows.encoding).dump(2) + "\n");
    draw_predictions(rows.encoding.target, said, line, rows.test_y);
    training.end({{"target", rows.encoding.target},
                  {"rows", rows.y.extent(0)},
                  {"test_rows", rows.test_y.extent(0)},
                  {"net", scores(said, rows.test_y)},
                  {"least_squares", scores(line, rows.test_y)},
                  {"parameters", net.parameter_count()}});
    return 0;
  }

  // What was predicted, over what is true; on the line, both are the same.
  void draw_predictions(const std::string &name, const Tensor &net, const Tensor &line, const Tensor &truth) const {
    const std::vector<double> is = truth.reals();
    const auto [least, most] = std::minmax_element(is.begin(), is.end());
    Plot plot;
    plot.title = name + " of rows that were kept for testing";
    plot.x_label = "true";
    plot.left_label = "predicted";
    plot.width = 760;
    plot.height = 620;
    plot.series = {{"least squares", is, line.reals(), colours::orange, Axis::left, 4, Style::points},
                   {"net", is, net.reals(), colours::blue, Axis::left, 4, Style::points},
                   {"", {*least, *most}, {*least, *most}, colours::grey, Axis::left, 1.5}};
    write_png(training.file("predictions.png"), draw(plot).pixels());
  }
};

// As CSV has it: between quotes where it would not be one cell else.
std::string csv_cell(const std::string &text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

struct PredictCommand {
  std::string folder, table, output;

  explicit PredictCommand(CLI::App &app) {
    app.add_option("folder", folder, "What `table_regression train` wrote to")
        ->required()
        ->check(CLI::ExistingDirectory);
    app.add_option("table", table, "CSV file with the columns that it was trained on; others are left alone")
        ->required()
        ->check(CLI::ExistingFile);
    app.add_option("output", output, "CSV file to write: a line for each row")->required();
  }

  int run() const {
    return on_input([&] {
      const std::string columns = folder + "/columns.json";
      const std::vector<uint8_t> bytes = read_file(columns, uint64_t{1} << 24);
      const Encoding encoding = encoding_from(nlohmann::json::parse(bytes, nullptr, false), columns);
      CsvOptions csv;
      csv.words = encoding.of_words();
      const Table t = read_csv(table, csv);
      const Tensor x = encoded(encoding, t, table);
      const Graph any = load_model(folder + "/model.safetensors");
      const Graph net = at_sizes(any, sizes_of(any, {{any.inputs.at(0), x.shape()}}));
      const Tensor y = saltern::run(net, {{net.inputs[0], x}}).at(net.outputs.at(0));
      std::string text = csv_cell(encoding.target) + "\n";
      for (double value : y.reals()) {
        char line[40];
        std::snprintf(line, sizeof line, "%.7g\n", value);
        text += line;
      }
      write_atomically(output, text);
      nlohmann::json facts = {{"rows", x.extent(0)}};
      if (has_targets(encoding, t)) facts.update(scores(y, targets(encoding, t, table)));
      std::cout << facts.dump() << "\n";
      return 0;
    });
  }
};

}  // namespace

int main(int argc, char **argv) {
  CLI::App app("Learns a column of a table from the others", "table_regression");
  app.require_subcommand(1);
  CLI::App *train = app.add_subcommand("train", "Train on a table, save the model and draw what it predicts");
  const TrainCommand train_command(*train);
  const PredictCommand predict_command(*app.add_subcommand("predict", "Predict for the rows of another table"));
  return run_program(app, argc, argv, [&] { return train->parsed() ? train_command.run() : predict_command.run(); });
}
