#!/usr/bin/env bash
# The whole way once: train, compile to a static library, link a C program, classify pictures. Run by `make demo`.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=build/demo
bin=build/release/bin
pictures=(apps/fashion_mnist/sample/pictures/*.png)
mkdir -p "$out"

# A net that is trained already is not trained again; `rm -r build/demo` starts anew.
if [ ! -f "$out/training.json" ] || [ "$bin/fashion_mnist" -nt "$out/training.json" ]; then
  $bin/fashion_mnist train --output "$out"
fi
build/bin/saltern compile "$out/model.safetensors" --name fashion -o "$out" --json >"$out/compile.json"
cc -std=c99 -O2 -Wall -Wextra -Werror -I"$out" apps/fashion_mnist/classify.c "$out/libfashion.a" \
  -lpng -lm -lpthread -ldl -o "$out/classify"

echo
"$out/classify" "${pictures[@]}"
"$out/classify" --tsv "${pictures[@]}" >"$out/predictions.tsv"
$bin/fashion_mnist sheet "$out/predictions.tsv" "$out/predictions.png"

# From process start to answer, best of 20.
best=
for _ in $(seq 20); do
  begin=$(date +%s%N)
  "$out/classify" "${pictures[0]}" >/dev/null
  took=$(($(date +%s%N) - begin))
  if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
done

build/venv/bin/python - "$out" "$best" <<'PYTHON'
import json, sys
out, best = sys.argv[1], int(sys.argv[2])
training = json.load(open(f"{out}/training.json"))
compiled = json.load(open(f"{out}/compile.json"))
result = {"test_accuracy": training["test_accuracy"], "train_seconds": round(training["train_seconds"], 1),
          "library_bytes": compiled["code_bytes"], "classify_ms": round(best / 1e6, 2)}
json.dump(result, open(f"{out}/result.json", "w"), indent=2)
print(f"""
test accuracy {100 * result['test_accuracy']:.2f} %, trained in {result['train_seconds']} s
code of the compiled net {result['library_bytes'] / 1000:.0f} KB, from process start to answer {result['classify_ms']} ms

{out}/training.png      loss and accuracy
{out}/predictions.png   what the compiled net says of the pictures
{out}/fashion.h, libfashion.a   the net, to link
{out}/result.json""")
PYTHON
