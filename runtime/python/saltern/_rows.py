"""Python callables from rows of the tables that C++ has: their names, arguments and defaults."""
import inspect

from . import _saltern


def signature_of(arguments, leading=()):
    """An inspect.Signature from (name, is required, default, by name only) of each argument."""
    kinds = inspect.Parameter
    parameters = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in leading]
    for name, required, default, by_name_only in arguments:
        parameters.append(kinds(name, kinds.KEYWORD_ONLY if by_name_only else kinds.POSITIONAL_OR_KEYWORD,
                                default=kinds.empty if required else default))
    return inspect.Signature(parameters)


def function_of(row):
    def function(*args, **kwargs):
        return row(*args, **kwargs)

    def written_over(input, *args, **kwargs):
        input._become(row(input, *args, **kwargs))
        return input

    if row.name.endswith('_') and '.' not in row.name:
        function = written_over
    function.__name__, function.__qualname__ = row.name.rpartition('.')[2], row.name
    function.__doc__ = f'{row.name}({row.signature})'
    function.__signature__ = signature_of(row.arguments)
    return function


_all = {row.name: function_of(row) for row in _saltern.functions()}


def __getattr__(name):
    """Where pickle finds functions."""
    if name not in _all:
        raise AttributeError(f'there is no function {name!r}')
    return _all[name]


functions = {name: f for name, f in _all.items() if '.' not in name}
layers = {row.name: row for row in _saltern.layers()}


def family(name):
    """The functions of a module: `solve` of the row `linalg.solve`."""
    return {row[len(name) + 1:]: f for row, f in _all.items() if row.startswith(f'{name}.')}
