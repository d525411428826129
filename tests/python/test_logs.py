"""Logs of training, read by others: Python's csv and json, and a reader of event files of our own (event_files.py)."""
import base64
import csv
import io
import json

import numpy as np
import pytest
from PIL import Image

import saltern
from event_files import crc32c, events
from saltern import _saltern, nn
from saltern._model import traced

PIXELS = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
VALUES = np.random.default_rng(0).standard_normal((40, 25)).astype(np.float32)


def write(path, behind=0, steps=(1, 2, 3)):
    log = _saltern.open_log(str(path), behind)
    for step in steps:
        log.scalar('loss', step, 1 / step)
        log.scalar('a, "b"', step, -step)
    log.histogram('weights', steps[-1], saltern.tensor(VALUES))
    log.picture('filters', steps[-1], saltern.tensor(PIXELS))
    log.graph(traced(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), saltern.zeros(2, 3)))
    log.flush()


def test_crc():
    assert crc32c(b'123456789') == 0xe3069283


def test_csv(tmp_path):
    write(tmp_path / 'log.csv')
    rows = list(csv.DictReader((tmp_path / 'log.csv').open()))
    assert [float(r['value']) for r in rows if r['name'] == 'loss'] == [1, 1 / 2, 1 / 3]
    assert [int(r['step']) for r in rows if r['name'] == 'a, "b"'] == [1, 2, 3]
    mean, = (float(r['value']) for r in rows if r['name'] == 'weights/mean')
    assert mean == pytest.approx(VALUES.mean(), rel=1e-5)


def test_json_lines(tmp_path):
    write(tmp_path / 'log.jsonl')
    rows = [json.loads(line) for line in (tmp_path / 'log.jsonl').read_text().splitlines()]
    assert [(r['step'], r['value']) for r in rows if r['name'] == 'loss'] == [(1, 1), (2, 1 / 2), (3, 1 / 3)]
    h, = (r['histogram'] for r in rows if r['name'] == 'weights')
    assert h['counts'] == np.histogram(VALUES, len(h['counts']))[0].tolist()
    png, = (r['png'] for r in rows if r['name'] == 'filters')
    assert (np.asarray(Image.open(io.BytesIO(base64.b64decode(png)))) == PIXELS).all()


def test_event_files(tmp_path):
    write(tmp_path / 'run')
    found = list(events(tmp_path / 'run'))
    assert [(s, v) for s, name, v in found if name == 'loss'] == [(1, 1), (2, 0.5), (3, np.float32(1 / 3))]
    h, = (v for _, name, v in found if name == 'weights')
    assert (h['least'], h['largest'], h['count']) == (VALUES.min(), VALUES.max(), VALUES.size)
    assert h['sum'] == pytest.approx(VALUES.sum(dtype=np.float64))
    assert h['counts'] == [0, *np.histogram(VALUES, len(h['counts']) - 1)[0].tolist()]
    assert len(h['edges']) == len(h['counts'])
    height, width, channels, png = next(v for _, name, v in found if name == 'filters')
    assert (height, width, channels) == PIXELS.shape
    assert (np.asarray(Image.open(io.BytesIO(png))) == PIXELS).all()
    nodes = next(v for _, name, v in found if name == 'graph')
    assert [op for _, op, _ in nodes if op not in ('Constant', 'Input')] == ['dense', 'relu']
    names = [name for name, _, _ in nodes]
    assert all(i in names for _, _, inputs in nodes for i in inputs)


@pytest.mark.parametrize('name', ['log.csv', 'log.jsonl'])
def test_what_came_behind_a_checkpoint_is_dropped(tmp_path, name):
    """Also a line that a killed process did not end."""
    write(tmp_path / 'whole' / name, steps=(1, 2, 3, 4))
    write(tmp_path / name, steps=(1, 2, 3))
    with (tmp_path / name).open('a') as file:
        file.write('3,lo')
    _saltern.open_log(str(tmp_path / name), 2)
    write(tmp_path / name, behind=2, steps=(3, 4))
    assert (tmp_path / name).read_text().count('loss') == 4
    scalars = lambda path: [line for line in path.read_text().splitlines() if 'loss' in line]
    assert scalars(tmp_path / name) == scalars(tmp_path / 'whole' / name)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(OSError, match='file/run'):
        _saltern.open_log(str(tmp_path / 'file' / 'run'))
    with pytest.raises(OSError, match='log.csv'):
        _saltern.open_log(str(tmp_path / 'file' / 'log.csv'))
