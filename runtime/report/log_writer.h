#pragma once
// What is logged while a net is trained, to be looked at by others: numbers, histograms and pictures by name and step, and
// the net's graph. One face, three kinds:
//
//   FILE.csv       step,name,value: a line for each number; of histograms their mean, deviation, least and largest
//   FILE.jsonl     an object a line: {"step":3,"name":"loss","value":0.5}, histograms with edges and counts, pictures as PNG
//   any other      a folder of event files, which TensorBoard shows
//
// What is written is on its way to the disk with every flush(); a process that is killed loses what came behind the last one.

#include <memory>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

// How values are spread: `counts[i]` of them lie in edges[i] to edges[i + 1]. What is not finite is not counted.
struct Histogram {
  double least = 0, largest = 0, count = 0, sum = 0, sum_of_squares = 0;
  std::vector<double> edges, counts;

  double mean() const { return count > 0 ? sum / count : 0; }
  double deviation() const;
};
Histogram histogram_of(const Tensor &values, int buckets = 30);

class LogWriter {
 public:
  virtual ~LogWriter() = default;
  virtual void scalar(const std::string &name, int64_t step, double value) = 0;
  virtual void histogram(const std::string &name, int64_t step, const Histogram &values) = 0;
  // u8 (height, width) or (height, width, 1, 3 or 4).
  virtual void picture(const std::string &name, int64_t step, const Tensor &pixels) = 0;
  virtual void graph(const Graph &graph) = 0;
  virtual void flush() = 0;
};

// By the name's ending. What is there already stays as far as `behind`, the step that training goes on from, and what came
// later is dropped: those steps are taken again.
std::unique_ptr<LogWriter> open_log(const std::string &path, int64_t behind = 0);

// The three kinds.
std::unique_ptr<LogWriter> open_csv_log(const std::string &path, int64_t behind = 0);
std::unique_ptr<LogWriter> open_json_log(const std::string &path, int64_t behind = 0);
std::unique_ptr<LogWriter> open_event_log(const std::string &folder, int64_t behind = 0);

}  // namespace saltern
