"""Times Saltern beside PyTorch and ONNX Runtime: each in a process of its own, asked for short bursts in turn, so that
whatever else the machine does hits all alike. Prints the ratio of each peer's time to Saltern's, best and median.

    python bench/peers.py build/release/bin/peer_worker [--threads 1 2] [--work training_step matmul_1024 ...] [--json]
    python bench/peers.py --train build/release/bin/saltern [--work mlp lenet5 ...]

With --train, whole training steps of the nets of training_nets.py: Saltern's compiled and on its tape, PyTorch's eager and
compiled, with the memory that each takes: Saltern's as it says itself, PyTorch's what its process grew by.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import training_nets

WORK = ["training_step", "matmul_256", "matmul_1024", "conv2d_64_64_56", "conv2d_128_128_28"]


def torch_work(name, threads):
    import torch
    from torch import nn
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    kind, *sizes = name.split("_")
    if kind == "training":
        layers, c = [], 1
        for width in (32, 64):
            for _ in range(2):
                layers += [nn.Conv2d(c, width, 3, padding=1), nn.ReLU()]
                c = width
            layers.append(nn.MaxPool2d(2))
        net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 7 * 7, 10)).train()
        x, y = torch.randn(64, 1, 28, 28), torch.randint(0, 10, (64,))
        optimizer, loss_of = torch.optim.SGD(net.parameters(), lr=0.01), nn.CrossEntropyLoss()

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(net(x), y)
            loss.backward()
            optimizer.step()
            return loss.item()
        return step
    torch.set_grad_enabled(False)
    if kind == "matmul":
        n = int(sizes[0])
        a, b = torch.randn(n, n), torch.randn(n, n)
        return lambda: torch.matmul(a, b)
    ci, co, size = map(int, sizes)
    layer, x = nn.Conv2d(ci, co, 3, padding=1), torch.randn(1, ci, size, size)
    return lambda: layer(x)


def ort_work(name, threads):
    import numpy as np
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
    kind, *sizes = name.split("_")
    if kind == "training":
        raise NotImplementedError("ONNX Runtime's wheel does not train")
    rng = np.random.default_rng(0)
    if kind == "matmul":
        n = int(sizes[0])
        shapes, weights = {"x": [n, n], "b": [n, n]}, {}
        node = helper.make_node("MatMul", ["x", "b"], ["y"])
    else:
        ci, co, size = map(int, sizes)
        shapes = {"x": [1, ci, size, size]}
        weights = {"w": rng.standard_normal((co, ci, 3, 3), np.float32), "c": rng.standard_normal(co, np.float32)}
        node = helper.make_node("Conv", ["x", "w", "c"], ["y"], pads=[1, 1, 1, 1])
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(k, TensorProto.FLOAT, s) for k, s in shapes.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(v, k) for k, v in weights.items()])
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feed = {k: rng.standard_normal(s, np.float32) for k, s in shapes.items()}
    return lambda: session.run(None, feed)


PEERS = {"torch": torch_work, "onnxruntime": ort_work}


def resident(what):
    """Bytes of this process: VmRSS now, VmHWM at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024


def torch_step(name, threads, compiled):
    """A training step and what the process has grown by when it has run."""
    import torch
    torch.set_num_threads(threads)
    torch.randn(2, 2).matmul(torch.randn(2, 2))  # what comes with the library is not the step's
    before = resident("VmRSS")
    step = training_nets.step_of(name, compiled)
    for _ in range(3):
        step()
    return step, {"peak_bytes": resident("VmHWM") - before}


STEPS = {"torch": False, "torch_compile": True}


def answer_bursts(work, said="ready"):
    """For every line of seconds that is read, does the work for so long and prints the milliseconds of each time."""
    for _ in range(3):
        work()
    print(json.dumps(said), flush=True)
    for line in sys.stdin:
        times, until = [], time.perf_counter() + float(line)
        while not times or time.perf_counter() < until:
            begin = time.perf_counter()
            work()
            times.append((time.perf_counter() - begin) * 1e3)
        print(json.dumps(times), flush=True)


class Worker:
    def __init__(self, name, command):
        self.name, self.times = name, []
        self.errors = tempfile.TemporaryFile("w+")  # not a pipe, which fills up while nobody reads it
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True)
        line = self.process.stdout.readline().strip()
        self.alive = bool(line)
        self.said = json.loads(line) if line else None

    def why(self):
        """The last thing that a worker said before it ended."""
        self.errors.seek(0)
        said = self.errors.read().strip().splitlines()
        return said[-1] if said else "it ended without a word"

    def burst(self, seconds):
        if not self.alive:
            return
        try:
            self.process.stdin.write(f"{seconds}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline()
        if answer:
            self.times += json.loads(answer)
        self.alive = bool(answer)

    def stop(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()


def workers_of(options, name, threads):
    serve = [sys.executable, __file__, "--serve"]
    if not options.train:
        return [Worker("saltern", [options.worker, name, str(threads)])] + [
            Worker(p, serve + [p, name, str(threads)]) for p in PEERS]
    model = Path(options.nets) / f"{name}.onnx"
    if not model.exists():
        subprocess.run([sys.executable, training_nets.__file__, options.nets, name], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bench = [options.train, "bench", model, "--train", "--bursts", "--batch", str(training_nets.SIZES[name][0]),
             "--threads", str(threads)]
    return [Worker("saltern", bench), Worker("saltern_tape", bench + ["--tape"])] + [
        Worker(p, serve + [p, name, str(threads)]) for p in options.peers]


def compare(options, name, threads):
    workers = workers_of(options, name, threads)
    row = {"work": name, "threads": threads}
    for _ in range(options.rounds):
        for w in workers:
            w.burst(options.seconds)
    for w in workers:
        w.stop()
        row[w.name] = ({"min_ms": min(w.times), "median_ms": statistics.median(w.times)} if w.times
                       else {"left_out": w.why()})
        if isinstance(w.said, dict):
            row[w.name].update(w.said)
    own = row["saltern"]
    for peer in row.keys() - {"work", "threads", "saltern"}:
        if "min_ms" in row[peer] and "min_ms" in own:
            row[peer]["ratio_min"] = row[peer]["min_ms"] / own["min_ms"]
            row[peer]["ratio_median"] = row[peer]["median_ms"] / own["median_ms"]
    return row


def table_row(row):
    """Of --train: milliseconds of each, and its time and memory beside those of the compiled step."""
    own = row["saltern"]
    cells = [f"{row['work']:12} {row['threads']:7}  {own['min_ms']:9.3f} ms {own['peak_bytes'] / 1e6:7.1f} MB"]
    for peer, r in row.items():
        if peer in ("work", "threads", "saltern"):
            continue
        cells.append(f"{peer} {r['ratio_min']:.2f} (median {r['ratio_median']:.2f}), memory "
                     f"{r['peak_bytes'] / own['peak_bytes']:.2f}" if "ratio_min" in r else f"{peer} —")
    return "   ".join(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worker", nargs="?", help="the program peer_worker")
    parser.add_argument("--train", metavar="SALTERN", help="the program saltern, for training steps")
    parser.add_argument("--peers", nargs="*", default=list(STEPS), choices=list(STEPS), help="of --train")
    parser.add_argument("--nets", default="build/peers/nets", help="the folder for --train's nets")
    parser.add_argument("--work", nargs="+")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one burst")
    parser.add_argument("--json", action="store_true", help="one JSON line a row")
    parser.add_argument("--serve", nargs=3, metavar=("PEER", "WORK", "THREADS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        peer, name, threads = options.serve
        if name in training_nets.SIZES:
            return answer_bursts(*torch_step(name, int(threads), STEPS[peer]))
        return answer_bursts(PEERS[peer](name, int(threads)))
    if not options.worker and not options.train:
        parser.error("where is peer_worker?")
    options.work = options.work or (list(training_nets.SIZES) if options.train else WORK)
    if not options.json and not options.train:
        print(f"{'work':20} threads  saltern ms   " + "   ".join(f"{p + ' / saltern':>24}" for p in PEERS))
    for threads in options.threads:
        for name in options.work:
            row = compare(options, name, threads)
            if options.json:
                print(json.dumps(row), flush=True)
                continue
            if "min_ms" not in row["saltern"]:
                sys.exit(f"{name}: {row['saltern']['left_out']}")
            if options.train:
                print(table_row(row), flush=True)
                continue
            peers = "   ".join(
                f"{row[p]['ratio_min']:7.2f} (median {row[p]['ratio_median']:5.2f})" if "ratio_min" in row[p]
                else f"{'—':>24}" for p in PEERS)
            print(f"{name:20} {threads:7}  {row['saltern']['min_ms']:10.3f}   {peers}", flush=True)
    if not options.json:
        print("\nA ratio above 1: the peer takes longer than Saltern. Best of all runs, and median.")


if __name__ == "__main__":
    sys.exit(main())
