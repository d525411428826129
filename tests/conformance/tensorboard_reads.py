"""TensorBoard's own reader beside what was logged: `make tensorboard`."""
import sys
import tempfile

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto import graph_pb2

import saltern
from saltern import _saltern, nn
from saltern._model import traced


def opened(folder):
    accumulator = EventAccumulator(folder, size_guidance={'scalars': 0, 'histograms': 0, 'images': 0})
    accumulator.Reload()
    return accumulator


def main():
    values = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        log = _saltern.open_log(folder)
        for step in (1, 2, 3):
            log.scalar('loss', step, 1 / step)
        log.histogram('weights', 3, saltern.tensor(values))
        log.picture('filters', 3, saltern.tensor(np.zeros((5, 7, 3), np.uint8)))
        log.graph(traced(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), saltern.zeros(2, 3)))
        log.flush()
        found = opened(folder)
        print(found.Tags())
        assert [(e.step, e.value) for e in found.Scalars('loss')] == [(s, np.float32(1 / s)) for s in (1, 2, 3)]
        histogram = found.Histograms('weights')[0].histogram_value
        assert (histogram.min, histogram.max, histogram.num) == (values.min(), values.max(), 1000)
        assert sum(histogram.bucket) == 1000
        image = found.Images('filters')[0]
        assert (image.height, image.width) == (5, 7) and image.encoded_image_string[1:4] == b'PNG'
        graph = graph_pb2.GraphDef.FromString(found.Graph().SerializeToString())
        assert {'dense', 'relu'} <= {node.op for node in graph.node}
        # Training goes on from step 2: step 3 is taken again.
        log = _saltern.open_log(folder, 2)
        log.scalar('loss', 3, 7)
        log.flush()
        assert [e.value for e in opened(folder).Scalars('loss')] == [1, 0.5, 7]
    print('TensorBoard reads what was logged')


if __name__ == '__main__':
    sys.exit(main())
