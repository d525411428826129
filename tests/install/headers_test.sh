#!/usr/bin/env bash
# Every header that is installed compiles alone, as C++17 and with what pkg-config says.
#   headers_test.sh CMAKE BUILD_TREE WORK_FOLDER
set -euo pipefail
cmake=$1 build=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$work" -name saltern.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
find "$work/include/saltern/runtime" "$work/include/saltern/dsl" -name '*.h' -print0 |
  xargs -0 -I{} -P 2 c++ -fsyntax-only -Wall -Wextra -Werror \
    $(pkg-config --cflags saltern) -include {} -x c++ /dev/null
