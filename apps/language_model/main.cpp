// A language model of characters, from a text to a C program:
//   language_model train --kind gpt --output DIR      writes model.safetensors, checkpoints/, training.png, training.json
//   language_model generate DIR/model.safetensors     writes a text
//   language_model surprise DIR/model.safetensors --text T    draws what it did not expect of a text
//   language_model export DIR/model.safetensors -o D  one step of it as a saved net and as ONNX, and its alphabet for C
// and then: saltern compile D/language.safetensors -o D; cc -ID generate.c D/liblanguage.a -lm -lpthread

#include "apps/language_model/commands.h"
#include "apps/program.h"

int main(int argc, char **argv) {
  using namespace saltern;
  CLI::App app("Trains a model of what comes next in a text, writes texts with it, and makes a net of one step of it",
               "language_model");
  app.require_subcommand(1);
  Action chosen;
  define_train_language(*app.add_subcommand("train", "Learn from a text"), chosen);
  define_generate(*app.add_subcommand("generate", "Write a text, one character after the other"), chosen);
  define_surprise(*app.add_subcommand("surprise", "Draw a text with how little of it was expected"), chosen);
  define_export(*app.add_subcommand("export", "Write one step, from state to state, as a saved net and as ONNX"),
                chosen);
  return run_program(app, argc, argv, [&] { return chosen(); });
}
