"""Metrics with Keras' names and arguments: the rows `keras.*` of the table that C++ has (runtime/metrics)."""
from ..metrics import _metric

Metric = _metric.KerasMetric
_classes = {row.name[6:]: _metric.class_of(row, Metric) for row in _metric.rows if row.name.startswith('keras.')}
globals().update(_classes)
__all__ = ['Metric', *_classes]
