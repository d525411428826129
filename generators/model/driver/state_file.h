#pragma once
/* State in a file: a head, and each state as it lies in memory. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state.h"

#define STATE_WORD "SALTERNS"
enum { state_file_version = 1 };

struct state_head {
  char word[8];
  uint32_t version, head_bytes;
  uint64_t bytes, sum; /* of the state */
  char hash[32];       /* and what tells the model from others */
};

/* FNV-1a: of damage, not of forgery. */
static uint64_t summed(uint64_t sum, const uint8_t *from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) sum = (sum ^ from[i]) * 1099511628211u;
  return sum;
}
static const uint64_t sum_of_nothing = 14695981039346656037u;

static uint64_t state_file_bytes(void) {
  uint64_t bytes = 0;
  for (int i = 0; i < states; ++i) bytes += state_facts[i].bytes;
  return bytes;
}

static int put(int file, const void *from, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = write(file, (const uint8_t *)from + done, bytes - done);
    if (n < 0) return 0;
    done += (size_t)n;
  }
  return 1;
}

static int get_bytes(int file, void *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = read(file, (uint8_t *)to + done, bytes - done);
    if (n <= 0) return 0;
    done += (size_t)n;
  }
  return 1;
}

static int file_error(NAME_model *model, const char *path, const char *what, const char *why) {
  snprintf(model->error, sizeof model->error, "%s %s%s", path ? path : "the null pointer", what, why);
  return -1;
}

int NAME_save(NAME_model *model, const char *path) {
  char beside[4096];
  struct state_head head = {STATE_WORD,         state_file_version, sizeof head,
                            state_file_bytes(), sum_of_nothing,     STATE_HASH};
  if (!model) return -1;
  model->error[0] = 0;
  if (!path || snprintf(beside, sizeof beside, "%s.writing", path) >= (int)sizeof beside)
    return file_error(model, path, "is no name for a file", "");
  for (int i = 0; i < states; ++i) {
    if (!model->edges[i] && state_facts[i].bytes) return file_error(model, state_facts[i].name, "has no memory", "");
    head.sum = summed(head.sum, model->edges[i], state_facts[i].bytes);
  }
  const int file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int good = file >= 0 && put(file, &head, sizeof head);
  for (int i = 0; i < states; ++i) good = good && put(file, model->edges[i], state_facts[i].bytes);
  if (good) good = !fsync(file);
  if (file >= 0 && close(file)) good = 0;
  if (good) good = !rename(beside, path);
  if (good) return 0;
  file_error(model, path, "cannot be written: ", strerror(errno));
  if (file >= 0) unlink(beside);
  return -1;
}

/* Null, or what is wrong. */
static const char *wrong_state(int file, off_t bytes) {
  struct state_head head;
  uint8_t part[4096];
  if (!get_bytes(file, &head, sizeof head) || memcmp(head.word, STATE_WORD, sizeof head.word))
    return "is not a file of a model's state";
  if (head.version != state_file_version || head.head_bytes != sizeof head) return "has another version of the format";
  if (memcmp(head.hash, STATE_HASH, sizeof head.hash) || head.bytes != state_file_bytes())
    return "has the state of another model";
  if ((uint64_t)bytes != sizeof head + head.bytes) return "is cut short, or has something behind its end";
  uint64_t sum = sum_of_nothing;
  for (uint64_t left = head.bytes; left;) {
    const size_t now = left < sizeof part ? (size_t)left : sizeof part;
    if (!get_bytes(file, part, now)) return "cannot be read";
    sum = summed(sum, part, now);
    left -= now;
  }
  return sum == head.sum ? NULL : "is damaged";
}

int NAME_load(NAME_model *model, const char *path) {
  struct stat facts;
  if (!model) return -1;
  model->error[0] = 0;
  for (int i = 0; i < states; ++i)
    if (!model->edges[i] && state_facts[i].bytes) return file_error(model, state_facts[i].name, "has no memory", "");
  const int file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  const char *wrong = file < 0 || fstat(file, &facts) ? "cannot be read"
                      : !S_ISREG(facts.st_mode)       ? "is not a file"
                                                      : NULL;
  /* All of it is looked at before any of it is taken. */
  if (!wrong) wrong = wrong_state(file, facts.st_size);
  if (!wrong && lseek(file, sizeof(struct state_head), SEEK_SET) < 0) wrong = "cannot be read";
  for (int i = 0; i < states && !wrong; ++i)
    if (!get_bytes(file, model->edges[i], state_facts[i].bytes)) wrong = "cannot be read";
  if (file >= 0) close(file);
  return wrong ? file_error(model, path, wrong, "") : 0;
}
