#pragma once
// The C text of creating a model, with its weights in the library or in a file of their own. @ stands for the model's
// name.
//
// NAME.weights is a head of 64 bytes (weights_file_head) and the weights. The head has what tells a file that is not
// the one that was written with the library: a word, the format's version, the size and the hash of the weights.

#include <cstdint>
#include <string>
#include <vector>

namespace saltern::generators {

constexpr int weights_file_version = 1;
inline constexpr const char *weights_file_word = "SALTERNW";

inline constexpr const char *create_with_weights_inside = R"(
extern const uint8_t @_weights[];

@_model *@_create(const @_options *options) { return create(options, @_weights); }
)";

inline constexpr const char *create_from_weights_file = R"(
struct weights_head { char word[8]; uint32_t version, head_bytes; uint64_t bytes; char hash[32]; uint64_t unused; };

static void say(char *error, size_t error_bytes, const char *text, const char *what) {
  if (error && error_bytes) snprintf(error, error_bytes, "%s%s", text, what);
}

/* Null, or what is wrong with the file. */
static const char *wrong_weights(const void *file, size_t bytes) {
  const struct weights_head *head = (const struct weights_head *)file;
  if (bytes < sizeof *head || memcmp(head->word, "$WORD", sizeof head->word)) return "is not a file of Saltern's weights";
  if (head->version != $VERSION || head->head_bytes != sizeof *head) return "has another version of the format";
  if (head->bytes != weights_bytes || memcmp(head->hash, "$HASH", sizeof head->hash))
    return "has the weights of another model, or of another compilation of this one";
  if (bytes != sizeof *head + (size_t)weights_bytes) return "is cut short, or has something behind its end";
  return NULL;
}

@_model *@_create_from_memory(const @_options *options, const void *file, size_t file_bytes, char *error,
                              size_t error_bytes) {
  const char *wrong = !file                              ? "is a null pointer"
                      : (uintptr_t)file % alignment != 0 ? "is not aligned to 64 bytes"
                                                         : wrong_weights(file, file_bytes);
  say(error, error_bytes, "", "");
  if (wrong) {
    say(error, error_bytes, "the memory with the weights ", wrong);
    return NULL;
  }
  @_model *model = create(options, (const uint8_t *)file + sizeof(struct weights_head));
  if (!model) say(error, error_bytes, "memory is short", "");
  return model;
}

@_model *@_create_from_file(const @_options *options, const char *path, char *error, size_t error_bytes) {
  struct stat facts;
  const int file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  const char *wrong = file < 0 || fstat(file, &facts) ? "cannot be read" : S_ISREG(facts.st_mode) ? NULL : "is not a file";
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
  @_model *model = @_create_from_memory(options, memory, bytes, error, error_bytes);
  if (!model) {
    munmap(memory, bytes);
    return NULL;
  }
  model->mapped = memory;
  model->mapped_bytes = bytes;
  return model;
}
)";

// The head of a weights file, as the text above reads it.
std::vector<uint8_t> weights_file_head(const std::vector<uint8_t> &weights);
// What stands in it for the contents: 32 characters.
std::string weights_hash(const std::vector<uint8_t> &weights);

}  // namespace saltern::generators
