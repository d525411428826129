#!/usr/bin/env python3
"""ONNX's own backend tests, out of its wheel, through `saltern run-batch`, or with --compiled through `saltern compile`
and the C program that it writes (c_programs.py).

  onnx_suite.py SALTERN [--passing FILE] [--write FILE] [--match GLOB] [--only FILE] [--compiled] [--jobs N] [--report FILE]

With --passing: fails (exit 1) when a test that the file lists does not pass any more. With --write: writes the tests
that pass. With --only: runs the tests that the file lists. The program sees inputs only; expected outputs stay here.
"""
import argparse, concurrent.futures, fnmatch, itertools, json, re, shutil, tempfile
from pathlib import Path

import numpy
import onnx
import onnx.backend.test
from onnx import numpy_helper

import c_programs
from harness.outcomes import Outcomes
from harness.program import run_batch
from harness.tensors import write_tensor

DATA = Path(onnx.backend.test.__file__).parent / "data"
RANDOM = {"Bernoulli", "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial"}
STATUS = {0: "done", 3: "unsupported"}
BATCH, SECONDS = 50, 120


class Case:
    def __init__(self, test, model, inputs, outputs, meta):
        self.test, self.model, self.inputs, self.outputs = test, model, inputs, outputs
        self.rtol, self.atol = meta.get("rtol", 1e-3), meta.get("atol", 1e-5)


def numbered(folder, stem):
    return sorted(folder.glob(f"{stem}_*.pb"), key=lambda p: int(re.search(r"(\d+)\.pb$", p.name)[1]))


def ramp(info):
    """What the suite gives the light networks: arange(n) / n."""
    shape = [d.dim_value or 1 for d in info.type.tensor_type.shape.dim]
    n = int(numpy.prod(shape))
    return (numpy.arange(n).reshape(shape) / n).astype(numpy.float32)


def light_case(spec):
    meta = json.loads(spec.read_text())
    path = DATA / "light" / Path(meta["url"]).name
    graph = onnx.load(path).graph
    constants = {i.name for i in graph.initializer}
    inputs = [ramp(v) for v in graph.input if v.name not in constants]
    return Case("light/" + spec.parent.name, path, inputs, numbered(DATA / "light", path.stem + "_output"), meta)


def discover(match):
    for spec in sorted((DATA / "real").glob("*/data.json")):
        if fnmatch.fnmatch("light/" + spec.parent.name, match):
            yield light_case(spec)
    for kind in ["node", "simple", "pytorch-converted", "pytorch-operator"]:
        for folder in sorted((DATA / kind).iterdir()):
            test = f"{kind}/{folder.name}"
            if not (folder / "model.onnx").exists() or not fnmatch.fnmatch(test, match):
                continue
            meta = json.loads((folder / "data.json").read_text()) if (folder / "data.json").exists() else {}
            for data in sorted(folder.glob("test_data_set_*")):
                yield Case(test, folder / "model.onnx", numbered(data, "input"), numbered(data, "output"), meta)


def load(path, kind):
    raw = path.read_bytes()
    if kind.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(raw))
    if kind.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(raw))
    return numpy_helper.to_array(onnx.TensorProto.FromString(raw))


def difference(want, got, case, random):
    """None where they agree, else how they differ."""
    if isinstance(want, list) or isinstance(got, list):
        if type(want) is not type(got) or len(want) != len(got):
            return "sequences of other lengths"
        return next((d for w, g in zip(want, got) if (d := difference(w, g, case, random))), None)
    if want is None or got is None:
        return None if want is got else "one is empty"
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype} {list(got.shape)}, expected {want.dtype} {list(want.shape)}"
    if random:
        return None
    if want.dtype == object or want.dtype.kind in "SU":
        text = lambda a: [x.decode() if isinstance(x, bytes) else str(x) for x in a.ravel()]
        return None if text(want) == text(got) else "texts differ"
    if want.dtype.kind not in "biu":
        want, got = want.astype(numpy.float64), got.astype(numpy.float64)
    with numpy.errstate(all="ignore"):
        close = want == got if want.dtype.kind == "b" else numpy.isclose(got, want, case.rtol, case.atol, equal_nan=True)
    return None if numpy.all(close) else f"{int(close.size - close.sum())} of {close.size} elements differ"


def read_output(out, i, kind, want, tensors):
    """A value that was run is a file; of a compiled model there are tensors, numbered from output to output."""
    if (out / f"output_{i}.pb").exists():
        return load(out / f"output_{i}.pb", kind)
    read = lambda like: c_programs.read_npy(out / f"output_{next(tensors)}.npy", like.dtype)
    parts = [read(t) for t in c_programs.flat("", want).values()]
    return parts if isinstance(want, list) else parts[0] if parts else None


def judge(case, out, status):
    if isinstance(status, str):
        return "crash", f"the program ended with {status}"
    if status != 0:
        log = out / "log"
        return STATUS.get(status, f"exit {status}"), log.read_text().strip() if log.exists() else ""
    graph = onnx.load(case.model, load_external_data=False).graph
    operators = {n.op_type for n in graph.node}
    random = bool(operators & RANDOM) or ("training_dropout" in case.test and "zero_ratio" not in case.test)
    tensors = itertools.count()
    for i, path in enumerate(case.outputs):
        try:
            want, kind = load(path, graph.output[i].type), graph.output[i].type
            why = difference(want, read_output(out, i, kind, want, tensors), case, random)
        except Exception as e:
            why = f"cannot be read: {e}"
        if why:
            return "wrong", f"output {i}: {why}"
    if len(case.outputs) == len(graph.output) and (out / f"output_{next(tensors)}.npy").exists():
        return "wrong", "there are more outputs"
    return "pass", ""


def run_models(program, cases):
    """One process for all, and another one for those that it did not come to."""
    with tempfile.TemporaryDirectory(prefix="saltern-suite-") as scratch:
        folders = []
        for number, case in enumerate(cases):
            folder = Path(scratch) / str(number)
            (folder / "in").mkdir(parents=True)
            shutil.copy(case.model, folder / "model.onnx")
            for i, source in enumerate(case.inputs):
                target = folder / "in" / f"input_{i}.pb"
                if isinstance(source, numpy.ndarray):
                    write_tensor(target, source)
                else:
                    shutil.copy(source, target)
            folders.append(folder)
        statuses = run_batch(program, folders, seconds=SECONDS)
        return [(case.test, *judge(case, folder / "out", statuses[folder])) for case, folder in zip(cases, folders)]


def run_c_programs(program, target, cases):
    """Each model as a C program of its own."""
    results = []
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="saltern-suite-") as scratch:
            graph = onnx.load(case.model, load_external_data=False).graph
            constants = {i.name for i in graph.initializer}
            named = [v for v in graph.input if v.name not in constants]
            inputs = {}
            for v, source in zip(named, case.inputs):
                value = source if isinstance(source, numpy.ndarray) else load(source, v.type)
                inputs[v.name] = value
            out = Path(scratch)
            status = c_programs.compile_and_run(program, target, case.model, inputs, out, SECONDS)
            results.append((case.test, *judge(case, out, status)))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    Outcomes.add_options(parser)
    parser.add_argument("--match", default="*")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    wanted = Outcomes.only(options)
    cases = [c for c in discover(options.match) if wanted(c.test)]
    batches = [cases[i:i + BATCH] for i in range(0, len(cases), BATCH)]
    if options.compiled:
        target = c_programs.best_target(options.program)
        batches = [[c] for c in cases]
        run = lambda batch: run_c_programs(options.program, target, batch)
    else:
        run = lambda batch: run_models(options.program, batch)
    outcomes = Outcomes()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for results in pool.map(run, batches):
            for result in results:
                outcomes.add(*result)
    outcomes.conclude(options)


if __name__ == "__main__":
    main()
