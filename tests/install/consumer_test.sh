#!/usr/bin/env bash
# What `cmake --install` installs is enough for others: by find_package, by pkg-config and by saltern_add_model, and
# after it was moved.
#   consumer_test.sh CMAKE NINJA BUILD_TREE WORK_FOLDER
set -euo pipefail
cmake=$1 ninja=$2 build=$3 work=$4
consumer=$(cd "$(dirname "$0")/consumer" && pwd)
# x = (1, 1, 2), w = (2 4 6; 4 5 6), b = (1, -100), s = (0.5, 3): relu(s (w x + b)), s by a layer of the consumer's own
expected="9.5 0"

expect() { # WHO WHAT
  [ "$2" = "$expected" ] || {
    echo "$1 printed '$2'; expected '$expected'" >&2
    exit 1
  }
}

rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" || {
  cat "$work/install.log" >&2
  exit 1
}
mv "$work/first" "$work/moved"
prefix=$work/moved
libraries=$(dirname "$(find "$prefix" -name libsaltern_runtime.a)")

# What a net with any layer is linked with, for three instruction sets.
bytes=$(du -cb "$libraries"/libsaltern_{runtime,nn,kernels}.a | awk 'END { print $1 }')
[ "$bytes" -le 30000000 ] || {
  echo "the libraries of nets have $bytes bytes; expected 30 million at most" >&2
  exit 1
}

if grep -rlI -e "$build" -e "$work/first" "$prefix" --include='*.cmake' --include='*.pc' --include='*.h'; then
  echo "these installed files name the build tree or the folder they were moved from" >&2
  exit 1
fi
halide=$(ldd "$prefix/bin/saltern" | awk '/libHalide/ { print $3 }')
case $(realpath "$halide") in
"$(realpath "$prefix")"/*) ;;
*)
  echo "the installed program takes Halide from $halide, not from $prefix" >&2
  exit 1
  ;;
esac

"$cmake" -S "$consumer" -B "$work/consumer" -G Ninja -DCMAKE_MAKE_PROGRAM="$ninja" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_BUILD_TYPE=Release >"$work/configure.log" || {
  cat "$work/configure.log" >&2
  exit 1
}
"$cmake" --build "$work/consumer" >"$work/build.log" || {
  cat "$work/build.log" >&2
  exit 1
}
export SALTERN_CACHE=$work/cache
expect "the program built by find_package" "$("$work/consumer/consumer_layers")"
net=$work/consumer/small.safetensors onnx=$work/consumer/small.safetensors.onnx
expect "the net compiled with Saltern::compiler" "$("$work/consumer/consumer_compiler" "$net")"
expect "the ONNX model run with Saltern::onnx" "$("$work/consumer/consumer_onnx" "$onnx")"
expect "the model compiled by saltern_add_model" "$("$work/consumer/consumer_model")"

export PKG_CONFIG_PATH=$libraries/pkgconfig
# Options, not one word.
# shellcheck disable=SC2046
c++ "$consumer/layers.cpp" $(pkg-config --cflags --libs saltern) -o "$work/by_pkg_config"
expect "the program built by pkg-config" "$("$work/by_pkg_config")"
# shellcheck disable=SC2046
c++ "$consumer/run_onnx.cpp" $(pkg-config --cflags --libs saltern-onnx) -o "$work/onnx_by_pkg_config"
expect "the ONNX program built by pkg-config" "$("$work/onnx_by_pkg_config" "$onnx")"
# shellcheck disable=SC2046
c++ "$consumer/compile.cpp" $(pkg-config --cflags --libs saltern-compiler) -o "$work/compiler_by_pkg_config"
expect "the compiling program built by pkg-config" "$("$work/compiler_by_pkg_config" "$net")"
