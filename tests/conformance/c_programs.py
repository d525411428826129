"""A model as users of a compiled one have it: `saltern compile --main`, cc, and the program that comes out, on .npy files."""
import os, re, subprocess

import numpy

from harness.tensors import write_tensor

# Stored one element a byte by the compiled model, as the number or as its code.
AS_NUMBERS = {"int4": numpy.int8, "int2": numpy.int8, "uint4": numpy.uint8, "uint2": numpy.uint8}


def best_target(program):
    rows = subprocess.run([program, "targets"], capture_output=True, text=True, check=True).stdout.splitlines()
    return next(r.split()[0] for r in rows if " cpu " in r and "runs here" in r)


def write_npy(path, value):
    if value.dtype.name in AS_NUMBERS:
        value = value.astype(AS_NUMBERS[value.dtype.name])
    elif value.dtype.kind not in "fiub":   # a type that NumPy does not have
        value = value.view(numpy.dtype(f"V{value.dtype.itemsize}"))
    numpy.save(path, numpy.asarray(value, order="C"))


def read_npy(path, dtype):
    value = numpy.load(path)
    if dtype.name in AS_NUMBERS:
        return value.view(AS_NUMBERS[dtype.name]).astype(dtype)
    return value.view(dtype) if value.dtype.kind == "V" else value


def next_constant(message, inputs, constants):
    """The input that the compiler must know the value of, as shapes depend on it; where it comes from others, one of
    those: few integers, or a number alone."""
    asked = re.search(r"\('([^']*)'\) is known at run time only(, as the inputs '(.*?)' are)?", message)
    is_few = lambda v: v.ndim == 0 or (v.dtype.kind in "iu" and v.ndim == 1 and v.size <= 16)
    for name in [asked[1], *(asked[3] or "").split("', '")] if asked else []:
        value = inputs.get(name)
        if isinstance(value, numpy.ndarray) and name not in constants and (name == asked[1] or is_few(value)):
            return name
    return None


def flat(name, value):
    """The tensors that a compiled model has for a value: NAME.0, NAME.1, ... of a sequence, none of an empty optional."""
    parts = {f"{name}.{i}": v for i, v in enumerate(value)} if isinstance(value, list) else {name: value}
    return {n: v for n, v in parts.items() if v is not None}


def compile_and_run(program, target, model, inputs, folder, seconds):
    """The exit code of what failed, or 0; what it said is in FOLDER/log, the outputs are FOLDER/output_N.npy."""
    log = folder / "log"
    if any(t.dtype.kind in "OSU" for n, v in inputs.items() for t in flat(n, v).values()):
        log.write_text("an input is of texts")
        return 3

    def run(command):
        try:
            done = subprocess.run(command, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            log.write_text(f"{command[0]}: time-out")
            return 124
        log.write_bytes(done.stderr)
        return done.returncode

    def compile_with(constants):
        flags = []
        for i, (name, value) in enumerate(inputs.items()):
            if name in constants:
                file = folder / f"constant_{i}.pb"
                write_tensor(file, value)
                flags.append(f"--constant={name}={file}")
            else:
                flags += [f"--shape={n}=" + ",".join(map(str, t.shape)) for n, t in flat(name, value).items()]
                if isinstance(value, list) and not value:
                    flags.append(f"--shape={name}=")
        return run([program, "compile", model, "-o", folder, "--name", "net", "--main", "--target", target, "--jobs", "1",
                    *flags])

    constants = []
    while (status := compile_with(constants)) == 3 and (name := next_constant(log.read_text(), inputs, constants)):
        constants.append(name)
    if status:
        return status
    files = []
    for tensor in [t for n, v in inputs.items() if n not in constants for t in flat(n, v).values()]:
        files.append(folder / f"input_{len(files)}.npy")
        write_npy(files[-1], tensor)
    return run([os.environ.get("CC", "cc"), "-std=c99", "-Wall", "-Wextra", "-Werror", folder / "net_main.c",
                folder / "libnet.a", "-lm", "-lpthread", "-o", folder / "net_main"]) or run(
                    [folder / "net_main", "--outputs", folder, *files])
