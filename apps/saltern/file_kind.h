#pragma once
// What a file is, by its first bytes; a name says what somebody meant it to be.

#include <string>

namespace saltern {

// What is other is ONNX, if it is a model.
enum class FileKind { safetensors, npy, zip, png, jpeg, gzip, idx, text, empty, other };

// Throws an Error where the file cannot be read.
FileKind kind_of_file(const std::string &path);
// "a text", "a PNG picture": for messages.
const char *to_string(FileKind kind);

}  // namespace saltern
