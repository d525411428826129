"""What `saltern coverage` tells of layers is what they do."""
import pathlib

import tried_layers


def test_operations_of_layers():
    kept = pathlib.Path(__file__).parents[2] / 'apps/saltern/coverage/tried_layers.txt'
    assert kept.read_text() == tried_layers.text(), f'{kept} is out of date: tests/python/tried_layers.py prints it'
