#pragma once
/* A model whose weights are in a file of their own, NAME.weights. */

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "create.h"
#include "weights_head.h"

static void say(char *error, size_t error_bytes, const char *text, const char *what) {
  if (error && error_bytes) snprintf(error, error_bytes, "%s%s", text, what);
}

/* Null, or what is wrong with the file. */
static const char *wrong_weights(const void *file, size_t bytes) {
  const struct weights_head *head = (const struct weights_head *)file;
  if (bytes < sizeof *head || memcmp(head->word, WEIGHTS_WORD, sizeof head->word))
    return "is not a file of Saltern's weights";
  if (head->version != weights_version || head->head_bytes != sizeof *head) return "has another version of the format";
  if (head->bytes != weights_bytes || memcmp(head->hash, WEIGHTS_HASH, sizeof head->hash))
    return "has the weights of another model, or of another compilation of this one";
  if (bytes != sizeof *head + (size_t)weights_bytes) return "is cut short, or has something behind its end";
  return NULL;
}

NAME_model *NAME_create_from_memory(const NAME_options *options, const void *file, size_t file_bytes, char *error,
                                    size_t error_bytes) {
  const char *wrong = !file                              ? "is a null pointer"
                      : (uintptr_t)file % alignment != 0 ? "is not aligned to 64 bytes"
                                                         : wrong_weights(file, file_bytes);
  say(error, error_bytes, "", "");
  if (wrong) {
    say(error, error_bytes, "the memory with the weights ", wrong);
    return NULL;
  }
  NAME_model *model = create(options, (const uint8_t *)file + sizeof(struct weights_head));
  if (!model) say(error, error_bytes, "memory is short", "");
  return model;
}

NAME_model *NAME_create_from_file(const NAME_options *options, const char *path, char *error, size_t error_bytes) {
  struct stat facts;
  const int file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  const char *wrong = file < 0 || fstat(file, &facts) ? "cannot be read"
                      : S_ISREG(facts.st_mode)        ? NULL
                                                      : "is not a file";
  void *memory = NULL;
  const size_t bytes = wrong ? 0 : (size_t)facts.st_size;
  if (!wrong && bytes < sizeof(struct weights_head)) wrong = "is not a file of Saltern's weights";
  if (!wrong && (memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0)) == MAP_FAILED) wrong = "cannot be mapped";
  if (file >= 0) close(file); /* a mapping outlives it */
  if (!wrong && (wrong = wrong_weights(memory, bytes))) munmap(memory, bytes);
  if (wrong) {
    if (error && error_bytes) snprintf(error, error_bytes, "%s %s", path ? path : "the null pointer", wrong);
    return NULL;
  }
  NAME_model *model = NAME_create_from_memory(options, memory, bytes, error, error_bytes);
  if (!model) {
    munmap(memory, bytes);
    return NULL;
  }
  model->mapped = memory;
  model->mapped_bytes = bytes;
  return model;
}
