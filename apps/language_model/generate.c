/* Writes a text with a compiled language model. All that it links: the model's static library.

     language_model export model.safetensors -o out && saltern compile out/language.safetensors -o out
     cc -Iout generate.c out/liblanguage.a -lm -lpthread -o generate
     ./generate --prompt "The " --length 400 --temperature 0.8 --top 10 --seed 1

   The model is one step: input 0 is a token, output 0 the scores of what follows it; every other input is state, which is
   zero before the first token, and then what the output of the same number was. An LSTM and a GPT are alike in that.
*/
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language.h"
#include "language_alphabet.h"

enum { characters = sizeof language_alphabet };

typedef struct {
  const char *prompt;
  long length, top;
  double temperature;
  uint64_t seed;
} wishes;

/* ---- Random numbers, the same as those of language_model generate. */

static float uniform(uint64_t seed, uint64_t *position) {
  uint64_t z = seed + 0x9e3779b97f4a7c15u * ++*position;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (float)(z >> 40) * (1.0f / 16777216);
}

/* A token, as likely as softmax(scores / temperature) says, of the likeliest ones. */
static int64_t choose(const float *scores, const wishes *w, uint64_t *position) {
  int order[characters];
  double up_to[characters], total = 0, at;
  const long count = w->top > 0 && w->top < characters ? w->top : characters;
  for (int i = 0; i < characters; ++i) { /* insertion: there are few */
    int place = i;
    for (; place > 0 && scores[i] > scores[order[place - 1]]; --place) order[place] = order[place - 1];
    order[place] = i;
  }
  if (w->temperature == 0) return order[0];
  for (long i = 0; i < count; ++i)
    up_to[i] = total += exp((double)(scores[order[i]] - scores[order[0]]) / w->temperature);
  at = (double)uniform(w->seed, position) * total;
  for (long i = 0; i < count; ++i)
    if (up_to[i] > at) return order[i];
  return order[count - 1];
}

/* ---- The model, and what it keeps. */

static void *zeros(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (!memory) {
    fprintf(stderr, "generate: out of memory\n");
    exit(1);
  }
  return memory;
}

/* The place of a character in the alphabet; ends the program where it has none. */
static int64_t token_of(char c) {
  for (int i = 0; i < characters; ++i)
    if (language_alphabet[i] == (unsigned char)c) return i;
  fprintf(stderr, "generate: the model knows no character '%c' (%d)\n", c, (unsigned char)c);
  exit(2);
}

static int write_text(language_model *model, const wishes *w) {
  const void *inputs[language_INPUTS];
  void *outputs[language_OUTPUTS], *state[language_INPUTS] = {0};
  float scores[characters];
  int64_t token;
  uint64_t position = 0;
  int failed = 0;
  const char *const prompt = w->prompt;
  const size_t given = strlen(prompt), length = (given > 0 ? given : 1) + (size_t)w->length;
  for (size_t i = 0; i < given; ++i) token_of(prompt[i]);
  inputs[0] = &token;
  outputs[0] = scores;
  for (int i = 1; i < language_INPUTS; ++i) /* outputs may lie over inputs */
    inputs[i] = outputs[i] = state[i] = zeros(language_input(i)->bytes);
  token = given > 0 ? token_of(prompt[0]) : 0;
  putchar(language_alphabet[token]);
  for (size_t i = 1; i < length && !failed; ++i) {
    failed = language_run(model, inputs, outputs);
    if (failed) {
      fprintf(stderr, "generate: %s\n", language_error(model));
    } else {
      token = i < given ? token_of(prompt[i]) : choose(scores, w, &position);
      putchar(language_alphabet[token]);
      fflush(stdout);
    }
  }
  putchar('\n');
  for (int i = 1; i < language_INPUTS; ++i) free(state[i]);
  return failed ? 1 : 0;
}

/* ---- The command line. */

static int usage(void) {
  fprintf(stderr, "usage: generate [--prompt TEXT] [--length N] [--temperature T] [--top K] [--seed S]\n");
  return 2;
}

/* A number that is all of the text, from 0 on; else -1. */
static double number(const char *text) {
  char *end;
  const double value = strtod(text, &end);
  return *text && !*end && value >= 0 && value <= 1e9 ? value : -1;
}

int main(int argc, char **argv) {
  wishes w = {"", 400, 0, 0.8, 1};
  language_model *model;
  int failed;
  for (int i = 1; i < argc; i += 2) {
    const double value = i + 1 < argc ? number(argv[i + 1]) : -1;
    if (i + 1 >= argc) return usage();
    if (!strcmp(argv[i], "--prompt")) {
      w.prompt = argv[i + 1];
      continue;
    }
    if (value < 0) return usage();
    if (!strcmp(argv[i], "--length"))
      w.length = (long)value;
    else if (!strcmp(argv[i], "--top"))
      w.top = (long)value;
    else if (!strcmp(argv[i], "--temperature"))
      w.temperature = value;
    else if (!strcmp(argv[i], "--seed"))
      w.seed = (uint64_t)value;
    else
      return usage();
  }
  if (language_abi_version() != language_ABI_VERSION || !(model = language_create(NULL))) {
    fprintf(stderr, "generate: the model cannot be made\n");
    return 1;
  }
  failed = write_text(model, &w);
  language_destroy(model);
  return failed;
}
