#!/usr/bin/env bash
# The whole way once: train, compile to a static library, link a C program, classify pictures. Run by `make demo`.
# What is done already and newer than what it was made of is not done again; `rm -r build/demo` starts anew.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=build/demo
bin=build/release/bin
pictures=(apps/fashion_mnist/sample/pictures/*.png)
mkdir -p "$out"

# Whether RESULT is missing or older than one of SOURCES.
stale() { # RESULT SOURCES...
  local result=$1 source
  shift
  [ -f "$result" ] || return 0
  for source; do
    if [ "$source" -nt "$result" ]; then return 0; fi
  done
  return 1
}

if stale "$out/training.json" "$bin/fashion_mnist"; then
  $bin/fashion_mnist train --epochs 1 --output "$out" # two, the default, are 2 % better
else
  echo "demo: the net is trained already; \`rm -r $out\` and \`make demo\` train it anew"
fi
if stale "$out/compile.json" "$out/training.json" "$bin/saltern"; then
  build/bin/saltern compile "$out/model.safetensors" --shape x=1,1,28,28 --name fashion -o "$out" --json >"$out/compile.json.new"
  mv "$out/compile.json.new" "$out/compile.json"
fi
if stale "$out/classify" "$out/compile.json" apps/fashion_mnist/classify.c; then
  cc -std=c99 -O2 -Wall -Wextra -Werror -I"$out" apps/fashion_mnist/classify.c "$out/libfashion.a" \
    -lpng -lm -lpthread -o "$out/classify"
fi

echo
"$out/classify" "${pictures[@]}"
if stale "$out/predictions.png" "$out/classify" "$bin/fashion_mnist" "${pictures[@]}"; then
  "$out/classify" --tsv "${pictures[@]}" >"$out/predictions.tsv"
  $bin/fashion_mnist sheet "$out/predictions.tsv" "$out/predictions.png"
fi

# From process start to answer, best of 20.
best=0
if stale "$out/result.json" "$out/classify"; then
  for _ in $(seq 20); do
    begin=$(date +%s%N)
    "$out/classify" "${pictures[0]}" >/dev/null
    took=$(($(date +%s%N) - begin))
    if [ "$best" = 0 ] || [ "$took" -lt "$best" ]; then best=$took; fi
  done
fi

build/venv/bin/python - "$out" "$best" <<'PYTHON'
import json, os, sys
out, best = sys.argv[1], int(sys.argv[2])
if best:
    training = json.load(open(f"{out}/training.json"))
    compiled = json.load(open(f"{out}/compile.json"))
    result = {"test_accuracy": training["test_accuracy"], "train_seconds": round(training["train_seconds"], 1),
              "library_bytes": compiled["code_bytes"], "classify_ms": round(best / 1e6, 2)}
    with open(f"{out}/result.json.new", "w") as file:
        json.dump(result, file, indent=2)
    os.replace(f"{out}/result.json.new", f"{out}/result.json")
result = json.load(open(f"{out}/result.json"))
print(f"""
test accuracy {100 * result['test_accuracy']:.2f} %, trained in {result['train_seconds']} s
code of the compiled net {result['library_bytes'] / 1000:.0f} KB, from process start to answer {result['classify_ms']} ms

{out}/training.png      loss and accuracy
{out}/report.html       curves, confusion matrix, worst mistakes, filters, time by layer
{out}/predictions.png   what the compiled net says of the pictures
{out}/fashion.h, libfashion.a   the net, to link
{out}/result.json""")
PYTHON
