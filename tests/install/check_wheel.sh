#!/usr/bin/env bash
# The wheel in a folder is small, needs no library that a machine may lack, and passes the Python tests in an empty venv:
# with NumPy alone, and those of the compiler with Halide's wheel.
#   check_wheel.sh FOLDER
set -euo pipefail
folder=$(realpath "$1")
cd "$(dirname "$0")/../.."
most_bytes=$((12 << 20))
system='linux-vdso|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc[+][+]|libz|ld-linux-x86-64'

wheel=$(ls "$folder"/saltern-*.whl)
bytes=$(stat -c %s "$wheel")
echo "$(basename "$wheel"): $bytes bytes"
[ "$bytes" -le $most_bytes ] || {
  echo "the wheel is larger than $most_bytes bytes" >&2
  exit 1
}

rm -rf "$folder/venv"
python3 -m venv "$folder/venv"
python=$folder/venv/bin/python
install() { "$python" -m pip install -q --disable-pip-version-check "$@"; }
run_tests() { SALTERN_CACHE=$folder/cache PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest -q -p no:cacheprovider "$@"; }
# Versions, one a word.
# shellcheck disable=SC2046
install "$wheel" $(grep -E '^(numpy|pytest)==' cmake/requirements.txt)
package=$(cd "$folder" && "$python" -c 'import pathlib, saltern; print(pathlib.Path(saltern.__file__).parent)')
needed=$(ldd "$package"/*.so* | grep '=>' | grep -Ev "^[[:space:]]*(/lib64/)?($system)[.-]" | sort -u)
if echo "$needed" | grep -v -e "=> $package/" -e 'libHalide.so => not found'; then
  echo "the wheel needs these, which a machine may lack" >&2
  exit 1
fi
run_tests tests/python --ignore tests/python/test_training.py # which compares with ONNX Runtime
install "$wheel[compiler]"
run_tests tests/python/test_compile.py tests/python/test_readme.py
