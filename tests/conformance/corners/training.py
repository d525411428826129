"""The demo's training on small pictures, whose files tell whether two trainings were the same."""
import struct

import numpy

from harness.program import call


def write_pictures(folder):
    """256 training and 50 test pictures in IDX files: a band whose place is its class."""
    rng = numpy.random.default_rng(0)
    for name, count in (("train", 256), ("t10k", 50)):
        labels = rng.integers(0, 10, count).astype(numpy.uint8)
        pixels = rng.integers(0, 60, (count, 28, 28)).astype(numpy.uint8)
        for picture, label in zip(pixels, labels):
            picture[2 * label + 2:2 * label + 6] += 150
        (folder / f"{name}-images-idx3-ubyte").write_bytes(
            struct.pack(">IIII", 2051, count, 28, 28) + pixels.tobytes())
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(
            struct.pack(">II", 2049, count) + labels.tobytes())
    return folder


def changed_files(one, other):
    """Those of a training's files that another one has not, or has otherwise."""
    contents = lambda path: path.read_bytes() if path.exists() else None
    checkpoints = [str(path.relative_to(one)) for path in one.glob("checkpoints/*")]
    return [name for name in ["model.safetensors", "checkpoint.safetensors", "training.png", *(checkpoints or ["checkpoints"])]
            if contents(one / name) is None or contents(one / name) != contents(other / name)]


def train_command(context, data, output, epochs, threads):
    return [context.trainer, "train", "--data", data, "--epochs", epochs, "--batch", "16", "-o", output,
            "--threads", threads]


def check_threads(context, report, data):
    """Any number of threads gives the same bits."""
    folders = {}
    for threads in (1, 2, 3, 8):
        folders[threads] = context.new_folder()
        call(train_command(context, data, folders[threads], 3, threads), 120)
        changed = changed_files(folders[1], folders[threads])
        report.check(f"training with {threads} threads", f"other bits: {changed}" if changed else "")
