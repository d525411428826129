#!/usr/bin/env bash
# Installed headers compile alone, as C++17 and with what pkg-config says: those of runtime/onnx are of the package
# saltern-onnx, those of generators and schedules of saltern-compiler, all others of saltern. Which ones: those that the
# programs and pages USERS include, or all where none are given, which takes minutes (make headers). And a program with all
# layers is compiled in little time, and little of them is in its object: their rows are in the library.
#   headers_test.sh CMAKE BUILD_TREE WORK_FOLDER [USERS...]
set -euo pipefail
source=$(cd "$(dirname "$0")" && pwd)/consumer/layers.cpp
cmake=$1 build=$2 work=$3
shift 3
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$work" -name saltern.pc)")
export PKG_CONFIG_PATH
cd "$work/include/saltern"

find ./* -name '*.h' | sort >"$work/all"
if [ $# -gt 0 ]; then
  grep -rhoE '^ *#include [<"](saltern/)?[a-z_0-9/]+\.h' "$@" | sed -E 's/.*[<"](saltern\/)?/.\//' | sort -u |
    comm -12 "$work/all" - >"$work/chosen"
else
  cp "$work/all" "$work/chosen"
fi
number=$(wc -l <"$work/chosen")
[ "$number" -ge 80 ] || {
  echo "only $number headers were found to compile" >&2
  exit 1
}
compile() { # PACKAGE: the headers on standard input
  # shellcheck disable=SC2046
  xargs -r -d '\n' -I{} -P 2 c++ -fsyntax-only -Wall -Wextra -Werror $(pkg-config --cflags "$1") -include {} -x c++ /dev/null
}
onnx='^\./runtime/onnx/' compiler='^\./(generators|schedules)/'
grep -vE "$onnx|$compiler" "$work/chosen" | compile saltern
{ grep -E "$onnx" "$work/chosen" || true; } | compile saltern-onnx
{ grep -E "$compiler" "$work/chosen" || true; } | compile saltern-compiler
echo "$number headers compile alone"

TIMEFORMAT=%U # of the processor: others may be at work
# shellcheck disable=SC2046
seconds=$({ time c++ -O2 -c $(pkg-config --cflags saltern) "$source" -o "$work/layers.o"; } 2>&1)
code=$(size "$work/layers.o" | awk 'NR == 2 { print $1 }')
awk -v seconds="$seconds" -v code="$code" 'BEGIN {
  printf "a program with all layers: %s s, %s bytes of code\n", seconds, code
  exit !(seconds < 10 && code < 50000)
}'
