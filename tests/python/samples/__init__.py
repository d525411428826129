"""Samples of every family: LAYERS of each file here."""
import importlib
import pkgutil

LAYERS = [sample for module in pkgutil.iter_modules(__path__)
          for sample in importlib.import_module(f'{__name__}.{module.name}').LAYERS]
