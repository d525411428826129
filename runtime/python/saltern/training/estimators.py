"""Nets with the face of scikit-learn's estimators, which need not be there."""
import inspect

import numpy as np

from .. import _saltern, nn, optim
from .._tensors import tensor
from .trainer import Trainer


class _Estimator:
    """Options are what __init__ was given, under the same names; what fit() finds ends with an underscore."""

    def __init__(self, net=None, hidden=(64,), epochs=50, batch_size=32, learning_rate=1e-2, seed=0, callbacks=(),
                 verbose=0):
        self.net, self.hidden, self.epochs, self.batch_size = net, hidden, epochs, batch_size
        self.learning_rate, self.seed, self.callbacks, self.verbose = learning_rate, seed, callbacks, verbose

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in inspect.signature(self.__init__).parameters}

    def set_params(self, **params):
        for name, value in params.items():
            if name not in self.get_params():
                raise ValueError(f'{type(self).__name__} has no option {name!r}')
            setattr(self, name, value)
        return self

    def __repr__(self):
        return f'{type(self).__name__}({", ".join(f"{n}={v!r}" for n, v in self.get_params().items())})'

    def _made(self, x, outputs):
        """The net that was given, or one with a hidden layer for each number, for inputs of one dimension."""
        if self.net is not None:
            return self.net
        _saltern.manual_seed(self.seed)
        sizes, layers = [int(np.prod(x.shape[1:])), *self.hidden, outputs], []
        if x.ndim > 2:
            layers.append(nn.Flatten())
        for before, behind in zip(sizes, sizes[1:]):
            layers += [nn.Linear(before, behind), nn.ReLU()]
        return nn.Sequential(*layers[:-1])

    def _train(self, x, targets, outputs, loss):
        self.net_ = self._made(x, outputs)
        self.n_features_in_ = x.shape[1] if x.ndim > 1 else 1
        self._trainer = Trainer(self.net_, loss, optim.Adam(self.net_.parameters(), lr=self.learning_rate), seed=self.seed)
        self.history_ = self._trainer.fit(x, targets, batch_size=self.batch_size, epochs=self.epochs,
                                          callbacks=self.callbacks, verbose=self.verbose).history
        return self

    def _outputs(self, x):
        if not hasattr(self, '_trainer'):
            raise ValueError(f'{type(self).__name__} is not trained: fit() comes first')
        return self._trainer.predict(_inputs(x), 256)


def _inputs(x):
    x = np.asarray(x)
    if x.ndim < 2:
        raise ValueError(f'inputs are {x.shape}; expected (samples, features)')
    return x.astype(np.float32)


class Classifier(_Estimator):
    """Labels of any kind: Classifier(hidden=(64,)).fit(x, y).predict(x)."""

    def fit(self, X, y):
        x, y = _inputs(X), np.asarray(y)
        self.classes_, targets = np.unique(y, return_inverse=True)
        return self._train(x, targets.reshape(-1).astype(np.int64), len(self.classes_), 'cross_entropy')

    def predict_proba(self, X):
        return np.asarray(nn.functional.softmax(tensor(self._outputs(X)), -1))

    def predict(self, X):
        scores = self._outputs(X)
        return self.classes_[np.argmax(scores, -1)]

    def score(self, X, y):
        """The part that is right."""
        return float(np.mean(self.predict(X) == np.asarray(y).reshape(-1)))


class Regressor(_Estimator):
    """Targets are (samples) or (samples, outputs)."""

    def fit(self, X, y):
        x, y = _inputs(X), np.asarray(y, np.float32)
        self._shape = y.shape[1:]
        return self._train(x, y.reshape(len(y), -1), int(np.prod(self._shape)), 'mse')

    def predict(self, X):
        found = self._outputs(X)
        return found.reshape(len(found), *self._shape)

    def score(self, X, y):
        """R squared: the part of the variance that is explained."""
        y = np.asarray(y, np.float64).reshape(-1, *self._shape)
        rest, all = ((y - self.predict(X))**2).sum(0), ((y - y.mean(0))**2).sum(0)
        return float(np.mean(1 - rest / all))
