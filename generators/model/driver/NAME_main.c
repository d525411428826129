/* Runs the compiled model NAME on files:
   cc -O2 NAME_main.c libNAME.a -lm -lpthread -o NAME_main */
#define _POSIX_C_SOURCE 200112L
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "NAME.h"

static const char usage[] =
    "NAME_main [OPTIONS] [INPUT...]: runs the model NAME\n"
    "  INPUT...          files of all inputs, in order: NumPy's .npy, or else the elements and nothing else;\n"
    "                    without any, the inputs are random numbers\n"
    "  --outputs FOLDER  writes output_0.npy, output_1.npy, ... there\n"
    "  --repeat N        runs N times and prints the least and the mean time\n"
    "  --threads N       runs on N threads\n"
#ifdef NAME_WEIGHTS_IN_FILE
    "  --weights FILE    the model's weights; NAME.weights unless given\n"
#endif
#ifdef NAME_ANY_BATCH
    "  --batch N         runs N samples, which the input files hold one after the other\n"
#endif
#ifdef NAME_STATE
    "  --list            prints the inputs, outputs and state\n"
#else
    "  --list            prints the inputs and outputs\n"
#endif
    "  --help            prints this\n";

/* The element types as NumPy writes them; it has none for some, which go as plain bytes. */
static const struct {
  const char *type, *descr;
} types[] = {{"f32", "<f4"}, {"f64", "<f8"},  {"f16", "<f2"}, {"i8", "|i1"},  {"i16", "<i2"},
             {"i32", "<i4"}, {"i64", "<i8"},  {"u8", "|u1"},  {"u16", "<u2"}, {"u32", "<u4"},
             {"u64", "<u8"}, {"bool", "|b1"}, {"bf16", "<V2"}};

static const char *descr_of(const NAME_tensor *t) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
    if (!strcmp(types[i].type, t->type)) return types[i].descr;
  return "|V1";
}

static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("NAME_main: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(2);
}

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory) fail("memory is short");
  return memory;
}

static size_t batch = 1;
static int64_t extent(const NAME_tensor *t, int d) {
  return d == 0 && t->rank > 0 ? t->shape[0] * (int64_t)batch : t->shape[d];
}

/* As NumPy writes it: (2, 3), (2,), (). */
static void shape_text(const NAME_tensor *t, char *text, size_t room) {
  size_t used = (size_t)snprintf(text, room, "(");
  for (int d = 0; d < t->rank && used < room; ++d)
    used += (size_t)snprintf(text + used, room - used, "%s%lld", d ? ", " : "", (long long)extent(t, d));
  if (used < room) snprintf(text + used, room - used, t->rank == 1 ? ",)" : ")");
}

/* The extents in a text, one after the other, whatever stands between them. */
static int same_shape(const NAME_tensor *t, const char *text) {
  int d = 0;
  for (const char *at = strchr(text, '('); at && *at && *at != ')';) {
    char *end;
    const long long n = strtoll(++at, &end, 10);
    if (end != at && (d == t->rank || n != extent(t, d++))) return 0;
    at = strpbrk(end, ",)");
  }
  return d == t->rank;
}

/* Goes past the head of an .npy file, if this is one, and holds it to what the model takes. */
static void read_head(FILE *file, const char *path, const NAME_tensor *t) {
  unsigned char start[12];
  char text[4097], want[300];
  if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6)) {
    rewind(file);
    return;
  }
  size_t length = start[8] | (size_t)start[9] << 8;
  if (start[6] > 1) {
    if (fread(start + 10, 1, 2, file) != 2) fail("%s is cut short", path);
    length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
  }
  if (length >= sizeof text || fread(text, 1, length, file) != length) fail("%s has a head that cannot be read", path);
  text[length] = 0;
  const char *descr = strstr(text, "descr"), *order = strstr(text, "fortran_order"), *shape = strstr(text, "'shape'");
  if (!descr || !order || !shape) fail("%s has a head that cannot be read", path);
  descr = strchr(descr, ':');
  if (!descr || !(descr = strchr(descr, '\''))) fail("%s is not of one element type", path);
  const char *wanted = descr_of(t);
  /* What NumPy has no type for may come as whatever has its size. */
  if (strncmp(descr + 1, wanted, 3) && !(wanted[1] == 'V' && descr[3] == wanted[2] && descr[4] == '\''))
    fail("%s has elements %.3s; the input '%s' takes %s", path, descr + 1, t->name, t->type);
  shape_text(t, want, sizeof want);
  if (!same_shape(t, shape)) fail("%s has another shape; the input '%s' takes %s", path, t->name, want);
  if (strncmp(order + strcspn(order, "TF"), "False", 5) && t->rank > 1) fail("%s is not in row-major order", path);
}

static void *read_input(const char *path, const NAME_tensor *t) {
  void *data = allocate(t->bytes * batch);
  FILE *file = fopen(path, "rb");
  if (!file) fail("cannot read %s", path);
  read_head(file, path, t);
  if (fread(data, 1, t->bytes * batch, file) != t->bytes * batch || fgetc(file) != EOF)
    fail("%s does not have the %zu bytes of the input '%s'", path, t->bytes * batch, t->name);
  fclose(file);
  return data;
}

static void *random_input(const NAME_tensor *t) {
  static uint32_t state = 1;
  const size_t size = t->elements ? t->bytes / t->elements : 0;
  uint8_t *data = (uint8_t *)allocate(t->bytes * batch);
  for (size_t i = 0; i < t->elements * batch; ++i) {
    state = state * 1664525u + 1013904223u;
    const uint32_t r = state >> 8; /* 24 bits */
    const uint16_t sign = (uint16_t)(r >> 8 & 0x8000);
    if (!strcmp(t->type, "f32"))
      ((float *)(void *)data)[i] = (float)r / 8388608 - 1;
    else if (!strcmp(t->type, "f64"))
      ((double *)(void *)data)[i] = (double)r / 8388608 - 1;
    else if (!strcmp(t->type, "f16"))
      ((uint16_t *)(void *)data)[i] = (uint16_t)(sign | 0x3800 | (r & 0x3ff));
    else if (!strcmp(t->type, "bf16"))
      ((uint16_t *)(void *)data)[i] = (uint16_t)(sign | 0x3f00 | (r & 0x7f));
    else {
      memset(data + i * size, 0, size);
      data[i * size] = (uint8_t)(r >> 20 & (strcmp(t->type, "bool") ? 3 : 1));
    }
  }
  return data;
}

static void write_output(const char *folder, int number, const NAME_tensor *t, const void *data) {
  char path[4096], shape[300], head[1024];
  snprintf(path, sizeof path, "%s/output_%d.npy", folder, number);
  shape_text(t, shape, sizeof shape);
  int length =
      snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr_of(t), shape);
  while ((10 + length) % 64 != 63) head[length++] = ' ';
  head[length++] = '\n';
  FILE *file = fopen(path, "wb");
  if (!file) fail("cannot write %s", path);
  const unsigned char start[10] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)length, (unsigned char)(length >> 8)};
  const size_t bytes = t->bytes * batch;
  const int good = fwrite(start, 1, 10, file) == 10 && fwrite(head, 1, (size_t)length, file) == (size_t)length &&
                   fwrite(data, 1, bytes, file) == bytes;
  if (fclose(file) || !good) fail("cannot write %s", path);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long number(const char *option, const char *text) {
  char *end;
  const long n = text ? strtol(text, &end, 10) : 0;
  if (!text || *end || n < 1 || n > 1000000000) fail("%s takes a number from 1", option);
  return n;
}

static void list(const char *kind, const NAME_tensor *t) {
  char shape[300];
  shape_text(t, shape, sizeof shape);
  printf("%s %s %s %s\n", kind, t->name, t->type, shape);
}

int main(int count, char **arguments) {
  const void *inputs[NAME_INPUTS + 1];
  void *outputs[NAME_OUTPUTS + 1];
  const char *files[NAME_INPUTS + 1] = {NULL}, *folder = NULL;
#ifdef NAME_WEIGHTS_IN_FILE
  const char *weights = "NAME.weights";
#endif
  int given = 0;
  long repeat = 0;
  NAME_options options = {0};
  for (int i = 1; i < count; ++i) {
    const char *a = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
    if (!strcmp(a, "--help")) return fputs(usage, stdout) < 0;
    if (!strcmp(a, "--list")) {
      for (int n = 0; n < NAME_INPUTS; ++n) list("input", NAME_input(n));
      for (int n = 0; n < NAME_OUTPUTS; ++n) list("output", NAME_output(n));
#ifdef NAME_STATE
      for (int n = 0; n < NAME_STATES; ++n) list("state", NAME_state(n));
#endif
      return 0;
    }
    if (!strcmp(a, "--outputs") && value)
      folder = value, ++i;
    else if (!strcmp(a, "--repeat"))
      repeat = number(a, value), ++i;
    else if (!strcmp(a, "--threads"))
      options.threads = (int)number(a, value), ++i;
#ifdef NAME_WEIGHTS_IN_FILE
    else if (!strcmp(a, "--weights") && value)
      weights = value, ++i;
#endif
#ifdef NAME_ANY_BATCH
    else if (!strcmp(a, "--batch"))
      batch = (size_t)number(a, value), ++i;
#endif
    else if (a[0] == '-' && a[1])
      fail("there is no option %s; --help prints all", a);
    else if (given < NAME_INPUTS)
      files[given++] = a;
    else
      fail("%s is one file too many: the model has %d inputs", a, NAME_INPUTS);
  }
  if (given && given < NAME_INPUTS)
    fail("%d files for %d inputs; the next is '%s'", given, NAME_INPUTS, NAME_input(given)->name);
  if (NAME_abi_version() != NAME_ABI_VERSION) fail("the library and its header are of different versions");
#ifdef NAME_WEIGHTS_IN_FILE
  char error[600];
  NAME_model *model = NAME_create_from_file(&options, weights, error, sizeof error);
  if (!model) fail("%s", error);
#else
  NAME_model *model = NAME_create(&options);
  if (!model) fail("memory is short");
#endif
  for (int i = 0; i < NAME_INPUTS; ++i)
    inputs[i] = given ? read_input(files[i], NAME_input(i)) : random_input(NAME_input(i));
  for (int i = 0; i < NAME_OUTPUTS; ++i) outputs[i] = allocate(NAME_output(i)->bytes * batch);
  double least = 0, all = 0;
  for (long i = 0; i <= repeat; ++i) { /* the first time is not counted */
    const double start = seconds();
#ifdef NAME_ANY_BATCH
    const int failed = NAME_run_batch(model, batch, inputs, outputs);
#else
    const int failed = NAME_run(model, inputs, outputs);
#endif
    if (failed) {
      fprintf(stderr, "NAME_main: %s\n", NAME_error(model));
      return 1;
    }
    const double took = seconds() - start;
    if (i > 0) all += took;
    if (i == 1 || (i > 1 && took < least)) least = took;
  }
  if (repeat) printf("%ld runs: least %.4f ms, mean %.4f ms\n", repeat, least * 1e3, all * 1e3 / (double)repeat);
  for (int i = 0; i < NAME_OUTPUTS; ++i) {
    if (folder) write_output(folder, i, NAME_output(i), outputs[i]);
    free(outputs[i]);
  }
  for (int i = 0; i < NAME_INPUTS; ++i) free((void *)(uintptr_t)inputs[i]);
  NAME_destroy(model);
  return 0;
}
