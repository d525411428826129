#!/usr/bin/env python3
"""Directed cases at the corners of what the program must do, in sections.

  corner_cases.py SALTERN [section ...]

without a section all of them; section:N tries at most N cases of each kind in it, always the same ones (large and
faults are as long as ever):

  layouts     values whose memory order one operation chooses and another reads; mix-ups of the kernel cache
  movement    operations that move nothing
  special     NaN, infinities, zeros, denormals, huge values: run = compiled = a reference
  chains      activations 60 deep: info and compile within 20 s each
  large       graphs of 1,000 to 100,000 nodes: times and how they grow
  convert     decisions on open extents: converted and original agree in ONNX Runtime
  reductions  at least 0.9 of ONNX Runtime's speed; wants a machine that does nothing else
  cache       damaged entries of the kernel cache: a right result, or a repaired entry
  faults      kill -9 and full disks: bit-identical training, no left-over files

Each failing case is a line; a section ends with "SECTION: G of T good". Exit code 1 where any is bad. Everything is
written to a temporary folder. Each section takes up to 5 minutes on two cores.
"""
import argparse, os, sys, tempfile
from pathlib import Path

from corners import cache, chains, convert, faults, large, layouts, movement, reductions, special
from corners.section import Context, Report

SECTIONS = {module.__name__.split(".")[-1]: module
            for module in (layouts, movement, special, chains, large, convert, reductions, cache, faults)}


def section_and_most(text):
    """("layouts", 20) of "layouts:20"; None where there is no number."""
    section, _, most = text.partition(":")
    if section not in SECTIONS or most and not most.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is no SECTION or SECTION:N; sections are {', '.join(SECTIONS)}")
    return section, int(most) if most else None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("saltern", type=Path, help="the program under test")
    parser.add_argument("sections", nargs="*", metavar="section", type=section_and_most,
                        help="as layouts, or layouts:20")
    parser.add_argument("--jobs", type=int, default=2, help="cases at the same time (%(default)s)")
    parser.add_argument("--kills", type=int, default=15, help="how often training is killed (%(default)s)")
    parser.add_argument("--trainer", type=Path, help="fashion_mnist; by default, beside the program")
    options = parser.parse_intermixed_args()
    options.saltern = options.saltern.resolve()
    options.trainer = options.trainer or options.saltern.parent / "fashion_mnist"
    return options


def main():
    options, good = parse_arguments(), True
    for section, most in options.sections or [(section, None) for section in SECTIONS]:
        with tempfile.TemporaryDirectory(prefix="corner_cases_") as scratch:
            os.environ["TMPDIR"] = scratch  # for what killed programs leave behind
            os.environ["SALTERN_CACHE"] = os.path.join(scratch, "cache")
            report = Report(section)
            SECTIONS[section].check(Context(options, scratch, most), report)
            good &= report.finish()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
