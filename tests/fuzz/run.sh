#!/usr/bin/env bash
# Runs fuzzers until each has tried RUNS inputs; what they find stays in build/fuzz/findings, and is a failure.
#   run.sh RUNS [NAME...]       NAME: onnx, png, ...; all without one
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=$1
shift
programs=build/fuzz/bin
[ $# -gt 0 ] || set -- $(ls $programs | sed -n 's/^fuzz_//p')
mkdir -p build/fuzz/findings
# Freed memory is held back for a while so that its use is seen; a million inputs would fill the memory with it.
export ASAN_OPTIONS=quarantine_size_mb=16
build/venv/bin/python tests/fuzz/seeds.py build/fuzz/seeds
failed=()
for name; do
  mkdir -p build/fuzz/corpus/"$name"
  log=build/fuzz/$name.log
  echo "fuzz: $name, $runs inputs (what it says is in $log)"
  $programs/fuzz_"$name" -runs="$runs" -max_len=4096 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -dict=build/fuzz/seeds/"$name".dict -artifact_prefix=build/fuzz/findings/"$name"- \
    build/fuzz/corpus/"$name" build/fuzz/seeds/"$name" >"$log" 2>&1 || failed+=("$name")
  grep -a 'number_of_executed_units\|^SUMMARY' "$log" || true
done
[ ${#failed[@]} = 0 ] || { echo "fuzz: findings in: ${failed[*]}" >&2; exit 1; }
