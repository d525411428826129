"""Some graphs of a seed: made, run, judged, and failures explained."""
import collections, shutil
from pathlib import Path

from graphs.description import describe
from graphs.generate import generate
from graphs.judge import FAILURES, Judge, refusal_is_shared
from graphs.smaller import reduce_case
from harness.program import message_of, run_batch
from harness.tensors import read_outputs, write_tensor


def do_batch(options, first, count, folder):
    """Generates, runs and judges some graphs; (counts of verdicts, lines about the failures)."""
    folder = Path(folder)
    judge = Judge(options.saltern, folder, options.compiled, options.timeout)
    cases = {folder / str(index): generate(options.seed, index) for index in range(first, first + count)}
    for each, case in cases.items():
        case.write(each)

    def run(folders, threads):
        return run_batch(options.saltern, folders, folder / "cache", options.compiled, threads, options.timeout)

    statuses, verdicts = run(cases, 1), {}
    for each, case in cases.items():
        outputs = read_outputs(each / "out", len(case.outputs))
        verdicts[each] = judge.verdict(case, statuses[each], outputs, message_of(each))
    counts, lines = collections.Counter(), []
    for each, (verdict, why) in verdicts.items():
        if verdict in FAILURES:
            verdict, line = explain(options, judge, each, cases[each], statuses[each], verdict, why)
            lines += [line] if line else []
        counts[verdict] += 1
    if options.verify_threads:
        good = [f for f in cases if verdicts[f][0] in ("agree", "reference")]
        for each, why in changes_with_threads(good, run).items():
            counts[verdicts[each][0]] -= 1
            counts["wrong"] += 1
            lines.append(f"wrong {options.seed}/{each.name}: {describe(cases[each])}: {why}")
            keep(options, each, cases[each])
    shutil.rmtree(folder, ignore_errors=True)
    return counts, lines


def changes_with_threads(folders, run):
    """{folder: how} of the graphs whose output files change with the number of threads."""
    def contents(folder):
        return {p.name: p.read_bytes() for p in sorted((folder / "out").glob("output_*.pb"))}

    before, found = {f: contents(f) for f in folders}, {}
    for threads in (2, 3):
        run(folders, threads)
        for folder in folders:
            if contents(folder) != before[folder]:
                found[folder] = f"other bits with {threads} threads than with 1"
    return found


def explain(options, judge, folder, case, status, verdict, why):
    """(verdict, line) after reducing a failure; the line is empty where the reduced case is none."""
    reduced = reduce_case(judge, case, verdict, why, options.reduce_seconds)
    if reduced and verdict == "refused" and refusal_is_shared(reduced[0], status):
        return "reference", ""
    small, small_why = reduced or (case, why)
    keep(options, folder, case, small)
    note = "" if reduced else " [not alone with an empty kernel cache]"
    return verdict, f"{verdict} {options.seed}/{folder.name}: {describe(small)}: {small_why}{note}"


def keep(options, folder, case, reduced=None):
    """Copies what failed to where --keep says: as found, and reduced, with what was wanted."""
    if not options.keep:
        return
    kept = Path(options.keep) / f"{'compiled' if options.compiled else 'run'}_{options.seed}" / folder.name
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(folder, kept)
    if reduced:
        reduced.write(kept / "reduced")
    for where, each in ((kept, case), (kept / "reduced", reduced)):
        if each:
            (where / "want").mkdir(exist_ok=True)
            for i, (name, array) in enumerate(each.outputs):
                write_tensor(where / "want" / f"output_{i}.pb", array, name)
