#pragma once
// Logs what training does (runtime/report/log_writer.h): of steps step/loss, step/rate and step/gradient_norm, of epochs all
// numbers as epoch/NAME; every so many steps how parameters, gradients and what comes out of layers are spread, as
// parameters/NAME, gradients/NAME and outputs/LAYER.

#include "runtime/report/log_writer.h"
#include "runtime/training/callback.h"
#include "runtime/training/parts.h"

namespace saltern {

struct LoggingOptions {
  int64_t every_steps = 1;             // 0: epochs only
  int64_t statistics_every_steps = 0;  // 0: none
};

class Logging : public Callback {
 public:
  // A file or a folder, as open_log takes it. Training that is resumed goes on in it.
  explicit Logging(std::string path, LoggingOptions options = {})
      : Callback("logging " + path), path_(std::move(path)), options_(options) {}

  void on_train_begin(Trainer &trainer) override;
  void on_gradients(Trainer &trainer) override;
  void on_step_end(Trainer &trainer, int64_t step, const Logs &logs) override;
  void on_epoch_end(Trainer &trainer, int64_t epoch, const Logs &logs) override;
  void on_train_end(Trainer &trainer) override;

 private:
  bool is_due(const Trainer &trainer) const;

  std::string path_;
  LoggingOptions options_;
  std::unique_ptr<LogWriter> log_;
  std::unique_ptr<Watching> watching_;
};

}  // namespace saltern
