#!/usr/bin/env bash
# Every header that is installed compiles alone, as C++17 and with what pkg-config says: those of runtime/onnx are of
# the package saltern-onnx, those of generators and schedules of
# saltern-compiler, all others of saltern. And a program with all layers is compiled in little time, and little
# of them is in its object: their rows are in the library.
#   headers_test.sh CMAKE BUILD_TREE WORK_FOLDER
set -euo pipefail
cmake=$1 build=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$work" -name saltern.pc)")
export PKG_CONFIG_PATH
headers=$work/include/saltern
compile() { # PACKAGE: what stands on standard input, headers with zeros between them
  # shellcheck disable=SC2046
  xargs -0 -I{} -P 2 c++ -fsyntax-only -Wall -Wextra -Werror $(pkg-config --cflags "$1") -include {} -x c++ /dev/null
}
find "$headers/runtime" "$headers/dsl" "$headers/algorithms" -name '*.h' ! -path "$headers/runtime/onnx/*" -print0 |
  compile saltern
find "$headers/runtime/onnx" -name '*.h' -print0 | compile saltern-onnx
find "$headers/generators" "$headers/schedules" -name '*.h' -print0 | compile saltern-compiler

source=$(dirname "$0")/consumer/layers.cpp
TIMEFORMAT=%U # of the processor: others may be at work
# shellcheck disable=SC2046
seconds=$({ time c++ -O2 -c $(pkg-config --cflags saltern) "$source" -o "$work/layers.o"; } 2>&1)
code=$(size "$work/layers.o" | awk 'NR == 2 { print $1 }')
awk -v seconds="$seconds" -v code="$code" 'BEGIN {
  printf "a program with all layers: %s s, %s bytes of code\n", seconds, code
  exit !(seconds < 10 && code < 50000)
}'
