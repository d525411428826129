// Regression on a table: figures beside those computed here by hand, predictions for another table, and tables with faults.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/data/csv.h"
#include "runtime/data/png.h"
#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

Said program(const std::string &arguments) { return run_program("table_regression", arguments); }

// y = 3 a - 2 b + 10 of kind "up" or -10 of kind "down"; rows from `first` on, so that tables differ.
std::string straight_table(int first, int rows, bool with_target = true) {
  std::string text = std::string("a,kind,b,code") + (with_target ? ",y" : "") + "\n";
  for (int r = first; r < first + rows; ++r) {
    const double a = std::sin(1.7 * r) * 5, b = std::cos(2.3 * r) * 40 + 100, up = r % 3 == 0 ? 10 : -10;
    text += std::to_string(a) + (up > 0 ? ",up," : ",down,") + std::to_string(b) + "," + std::to_string(r % 2 + 7);
    text += (with_target ? "," + std::to_string(3 * a - 2 * b + up) : "") + "\n";
  }
  return text;
}

TEST(TableRegression, TheNetBeatsLeastSquaresWhereNothingIsStraight) {
  const ScratchFolder folder;
  const std::string out = folder.file("out");
  const Said said = program("train --epochs 12 --threads 1 --json -o " + out);  // of the table that it makes
  ASSERT_EQ(said.code, 0) << said.all;
  const nlohmann::json facts = nlohmann::json::parse(said.out, nullptr, false);
  EXPECT_EQ(facts["rows"], 1200);
  EXPECT_EQ(facts["test_rows"], 300);
  EXPECT_GT(facts["net"]["r2"].get<double>(), 0.93);
  EXPECT_LT(facts["least_squares"]["r2"].get<double>(), 0.9);
  EXPECT_LT(facts["net"]["mean_absolute_error"].get<double>(),
            0.7 * facts["least_squares"]["mean_absolute_error"].get<double>());
  EXPECT_EQ(read_png(out + "/predictions.png").extent(2), 3);

  // Predictions for the whole table, whose scores are computed here.
  const std::string predicted = folder.file("predicted.csv");
  const Said scored = program("predict " + out + " " + out + "/flats.csv " + predicted);
  ASSERT_EQ(scored.code, 0) << scored.all;
  const std::vector<double> truth = read_csv(out + "/flats.csv").columns({"price"}).reals(),
                            found = read_csv(predicted).columns({"price"}).reals();
  ASSERT_EQ(found.size(), 1500U);
  double mean = 0, left = 0, spread = 0, absolute = 0;
  for (double t : truth) mean += t / 1500;
  for (size_t i = 0; i < truth.size(); ++i) {
    left += std::pow(found[i] - truth[i], 2);
    spread += std::pow(truth[i] - mean, 2);
    absolute += std::fabs(found[i] - truth[i]) / 1500;
  }
  const nlohmann::json scores = nlohmann::json::parse(scored.out, nullptr, false);
  EXPECT_NEAR(scores["r2"].get<double>(), 1 - left / spread, 1e-4);
  EXPECT_NEAR(scores["mean_absolute_error"].get<double>(), absolute, 1e-3 * absolute);
}

TEST(TableRegression, LeastSquaresFindsAStraightFormula) {
  const ScratchFolder folder;
  const std::string table = folder.write("straight.csv", straight_table(0, 200)), out = folder.file("out");
  const Said said = program("train " + table + " --target y --without code --epochs 2 --json -o " + out);
  ASSERT_EQ(said.code, 0) << said.all;
  const nlohmann::json facts = nlohmann::json::parse(said.out, nullptr, false);
  EXPECT_GT(facts["least_squares"]["r2"].get<double>(), 0.99999);
  EXPECT_LT(facts["net"]["r2"].get<double>(), 1);
}

class FaultyTables : public testing::Test {
 protected:
  void SetUp() override {
    const std::string table = folder.write("train.csv", straight_table(0, 60));
    ASSERT_EQ(program("train " + table + " --words code --epochs 1 --json -o " + out).code, 0);
  }
  void expect_refused(const std::string &text, const std::string &culprit) {
    const std::string table = folder.write("new.csv", text);
    const Said said = program("predict " + out + " " + table + " " + folder.file("said.csv"));
    EXPECT_EQ(said.code, 2);
    EXPECT_TRUE(contains(said.all, table));
    EXPECT_TRUE(contains(said.all, culprit));
  }
  const ScratchFolder folder;
  const std::string out = folder.file("out");
};

TEST_F(FaultyTables, PredictionNamesWhatItDoesNotKnow) {
  expect_refused("a,b,code\n1,2,7\n", "'kind'");
  expect_refused("a,kind,b,code\n1,sideways,2,7\n", "'sideways'");
  expect_refused("a,kind,b,code\n1,up,2,9\n", "'9'");  // a code that training has not seen
  expect_refused("a,kind,b,code\nmuch,up,2,7\n", "'a'");
  expect_refused("a,kind,b,code\n1,up\n", "line 2");
  // Columns in another order, more of them, and empty cells will do.
  const std::string good = folder.write("new.csv", "code,more,kind,b,a\n8,x,down,,0.5\n7,y,up,100,\n");
  const Said said = program("predict " + out + " " + good + " " + folder.file("said.csv"));
  EXPECT_EQ(said.code, 0) << said.all;
  EXPECT_EQ(said.out, "{\"rows\":2}\n");
  // Where the target is not known, nothing is compared with it.
  for (const std::string unknown : {"?", ""}) {
    const std::string table = folder.write("unknown.csv", "a,kind,b,code,y\n0.5,up,100,7," + unknown + "\n");
    const Said predicted = program("predict " + out + " " + table + " " + folder.file("said.csv"));
    EXPECT_EQ(predicted.code, 0) << predicted.all;
    EXPECT_EQ(predicted.out, "{\"rows\":1}\n");
  }
}

TEST_F(FaultyTables, TrainingNamesTheColumnAtFault) {
  const auto refused = [&](const std::string &text, const std::string &options, const std::string &culprit) {
    const Said said = program("train " + folder.write("bad.csv", text) + " -o " + folder.file("none") + " " + options);
    EXPECT_EQ(said.code, 2);
    EXPECT_TRUE(contains(said.all, culprit));
  };
  refused("a,b\n1,2\n3,4\n", "--target c", "'c'");
  refused("a,b\n1,x\n3,y\n", "--target b", "'b' is of words");
  refused("a,b\n1,2\n3,\n5,6\n", "--target b", "row 2");
  refused("a,b\n1,2\n3,4\n", "--target b --without d", "'d'");
  refused("a,b\n1,2\n3,4\n", "--target b", "2 rows");
  refused("a,l\xfc,b\n1,2,3\n3,4,5\n5,6,7\n7,8,9\n", "--target b", "UTF-8");
  EXPECT_EQ(program("train " + folder.file("no.csv")).code, 2);
}

}  // namespace
}  // namespace saltern
