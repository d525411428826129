"""Metrics with torchmetrics' names and arguments: rows of the table that C++ has (runtime/metrics).

    accuracy = saltern.metrics.Accuracy(task='multiclass', num_classes=10)
    for images, labels in batches:
        accuracy.update(net(images), labels)
    accuracy.compute()

saltern.metrics.functional has them as functions of one batch, saltern.keras.metrics those that Keras has.
"""
from . import _metric, functional

Metric = _metric.Metric
_classes = {row.name: _metric.class_of(row) for row in _metric.rows if '.' not in row.name}
globals().update(_classes)
__all__ = ['Metric', 'functional', *_classes]
