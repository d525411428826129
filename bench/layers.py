"""Times layers of the Python module beside PyTorch's: each in a process of its own, asked for short bursts in turn, as
bench/peers.py does. Both have the same names, so that a layer is written down once.

    PYTHONPATH=build/release/python python bench/layers.py [--threads 1 2] [--work lstm gru ...] [--compiler] [--json]
"""
import argparse
import importlib
import json
import os
import statistics
import sys

import numpy as np

from peers import Worker, answer_bursts

RANDOM = np.random.default_rng(0)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def numbers(below, *shape):
    return RANDOM.integers(0, below, shape)


def attended(length):
    def call(lib):
        layer = lib.nn.MultiheadAttention(256, 8, batch_first=True)
        return layer, lambda x: layer(x, x, x, need_weights=False)[0]
    return call, lambda: [normal(8, length, 256)]


def layer(make, *inputs, first=False):
    """A layer of lib.nn, with functions that give its inputs; `first`: of several results."""
    def call(lib):
        made = make(lib.nn)
        return made, (lambda *given: made(*given)[0]) if first else made
    return call, lambda: [f() for f in inputs]


def image():
    return normal(8, 64, 56, 56)


# name: (lib -> layer and what to call, -> inputs)
LAYERS = {
    'linear': layer(lambda nn: nn.Linear(512, 512), lambda: normal(512, 512)),
    'conv2d': layer(lambda nn: nn.Conv2d(64, 64, 3, padding=1), image),
    'conv2d_depthwise': layer(lambda nn: nn.Conv2d(64, 64, 3, padding=1, groups=64), image),
    'batch_norm': layer(lambda nn: nn.BatchNorm2d(64), image),
    'layer_norm': layer(lambda nn: nn.LayerNorm(256), lambda: normal(32, 128, 256)),
    'softmax': layer(lambda nn: nn.Softmax(-1), lambda: normal(32, 128, 256)),
    'gelu': layer(lambda nn: nn.GELU(), lambda: normal(32, 128, 256)),
    'max_pool': layer(lambda nn: nn.MaxPool2d(2), image),
    'cross_entropy': layer(lambda nn: nn.CrossEntropyLoss(), lambda: normal(512, 1000), lambda: numbers(1000, 512)),
    'embedding': layer(lambda nn: nn.Embedding(30000, 256), lambda: numbers(30000, 32, 64)),
    'lstm': layer(lambda nn: nn.LSTM(256, 256, 2), lambda: normal(64, 32, 256), first=True),
    'gru': layer(lambda nn: nn.GRU(256, 256, 2), lambda: normal(64, 32, 256), first=True),
    **{f'attention_{n}': attended(n) for n in (64, 128, 256, 512)},
}
PASSES = ['forward', 'both']  # both: forward, and backward for inputs and parameters


def work_of(lib, name, which):
    make, inputs = LAYERS[name]
    module, call = make(lib)
    given = [lib.tensor(a) for a in inputs()]
    if which == 'forward':
        module.eval()

        def forward():
            with lib.no_grad():
                return call(*given)
        return forward
    leaves = [t for t in (lib.tensor(a, requires_grad=a.dtype.kind == 'f') for a in map(np.asarray, given))]
    wanted = [*module.parameters(), *(t for t in leaves if t.requires_grad)]
    seed = lib.tensor(np.ones(tuple(call(*leaves).shape), np.float32))

    def both():
        for t in wanted:
            t.grad = None
        call(*leaves).backward(seed)
    return both


def serve(peer, name, which, threads, compiler):
    lib = importlib.import_module(peer)
    lib.set_num_threads(threads)
    if compiler and peer == 'saltern':
        importlib.import_module('saltern.compiler')
    answer_bursts(work_of(lib, name, which))


def compare(name, which, threads, options):
    peers = ('saltern', 'torch')
    command = [sys.executable, __file__, '--serve', name, which, str(threads)]
    workers = [Worker(p, [*command, p, *(['--compiler'] if options.compiler else [])]) for p in peers]
    for _ in range(options.rounds):
        for w in workers:
            w.burst(options.seconds)
    row = {'layer': name, 'pass': which, 'threads': threads, 'load': os.getloadavg()[0]}
    for w in workers:
        w.stop()
        if not w.alive:
            sys.exit(f'{name}: {w.name}: {w.why()}')
        row[w.name] = {'min_ms': min(w.times), 'median_ms': statistics.median(w.times)}
    for kind in ('min', 'median'):
        row[f'ratio_{kind}'] = row['torch'][f'{kind}_ms'] / row['saltern'][f'{kind}_ms']
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--work', nargs='+', default=list(LAYERS), choices=list(LAYERS))
    parser.add_argument('--passes', nargs='+', default=PASSES, choices=PASSES)
    parser.add_argument('--threads', nargs='+', type=int, default=[1, 2])
    parser.add_argument('--rounds', type=int, default=8)
    parser.add_argument('--seconds', type=float, default=0.2, help='of one burst')
    parser.add_argument('--compiler', action='store_true', help='formulas are compiled just in time')
    parser.add_argument('--json', action='store_true', help='one JSON line a row')
    parser.add_argument('--serve', nargs=4, metavar=('LAYER', 'PASS', 'THREADS', 'PEER'), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        name, which, threads, peer = options.serve
        return serve(peer, name, which, int(threads), options.compiler)
    if not options.json:
        print(f"{'layer':18} {'pass':8} threads  saltern ms  torch / saltern            load")
    for threads in options.threads:
        for name in options.work:
            for which in options.passes:
                row = compare(name, which, threads, options)
                if options.json:
                    print(json.dumps(row), flush=True)
                else:
                    print(f"{name:18} {which:8} {threads:7}  {row['saltern']['min_ms']:10.3f}  "
                          f"{row['ratio_min']:7.2f} (median {row['ratio_median']:5.2f})   {row['load']:6.1f}", flush=True)
    if not options.json:
        print('\nA ratio above 1: PyTorch takes longer. Best of all runs, and median; both: forward and backward.')


if __name__ == '__main__':
    sys.exit(main())
