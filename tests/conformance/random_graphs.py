#!/usr/bin/env python3
"""Random small ONNX graphs of about 140 operators: the program's results beside ONNX Runtime's and the reference's.

  random_graphs.py SALTERN --seed S --count N [--compiled] [--verify-threads] [--keep DIR]

Graph I of seed S is always the same; --first I --count 1 makes it alone. The last line counts the verdicts:
graphs/judge.py says what each is. A graph that fails is reduced and told in one line, as

  wrong 12/132: Softmax(float32[1,2,5,5], axis=3) > Conv(v2, ...): 54 of 54 off

which is graph 132 of seed 12: what is left of it (operators with shapes, small constants and attributes), and what is
wrong with that. "not alone with an empty kernel cache" means that it took the other graphs of its batch. All files are
in a temporary folder, the kernel cache too: a fresh one for every batch. Exit code 1 where a graph is wrong, refused,
crashes or hangs.
"""
import argparse, collections, concurrent.futures, os, sys, tempfile
from pathlib import Path

from graphs.batch import do_batch
from graphs.judge import FAILURES
from harness.progress import Progress


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("saltern", type=Path, help="the program under test")
    parser.add_argument("--seed", type=int, default=1, help="which graphs (%(default)s)")
    parser.add_argument("--count", type=int, default=100, help="how many of them (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first graph of the seed (%(default)s)")
    parser.add_argument("--compiled", action="store_true", help="run with compiled kernels")
    parser.add_argument("--verify-threads", action="store_true", help="demand the same bits with 1, 2 and 3 threads")
    parser.add_argument("--keep", type=Path,
                        help="a folder for failing models, as found and reduced: model.onnx, in/, out/, want/")
    parser.add_argument("--jobs", type=int, default=2, help="batches at the same time (%(default)s)")
    parser.add_argument("--batch", type=int, default=25, help="graphs in a batch (%(default)s)")
    parser.add_argument("--timeout", type=float, default=30, help="seconds that a graph may take (%(default)s)")
    parser.add_argument("--reduce-seconds", type=float, default=12, help="to reduce each failure (%(default)s)")
    options = parser.parse_args()
    options.saltern = options.saltern.resolve()
    return options


def main():
    options = parse_arguments()
    counts, end = collections.Counter(), options.first + options.count
    progress = Progress()
    with tempfile.TemporaryDirectory(prefix="random_graphs_") as scratch, \
            concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        os.environ["TMPDIR"] = scratch  # for what killed programs leave behind
        batches = [pool.submit(do_batch, options, first, min(options.batch, end - first),
                               os.path.join(scratch, f"batch_{first}"))
                   for first in range(options.first, end, options.batch)]
        for batch in concurrent.futures.as_completed(batches):
            found, lines = batch.result()
            counts += found
            progress.say(lines, f"{sum(counts.values())} of {options.count} graphs")
    others = ", ".join(f"{counts[kind]} {kind}" for kind in ("wrong", "refused", "unsupported", "crash", "hang"))
    progress.say([f"{options.count} graphs: {counts['agree'] + counts['reference']} agree "
                  f"({counts['reference']} with the reference only), {others}"])
    return 1 if any(counts[kind] for kind in FAILURES) else 0


if __name__ == "__main__":
    sys.exit(main())
