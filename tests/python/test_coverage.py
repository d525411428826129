"""What `saltern coverage` tells of layers and functions is what they do."""
import pathlib

import tried


def test_what_is_tried():
    kept = pathlib.Path(__file__).parents[2] / 'apps/saltern/coverage/tried.txt'
    assert kept.read_text() == tried.text(), f'{kept} is out of date: tests/python/tried.py prints it'
