"""What layers and functions are tried with: one line each in tests/python/samples/."""
import dataclasses


@dataclasses.dataclass
class Exactly:
    """An argument as it is: integers that are not the shape of an array."""
    value: object


@dataclasses.dataclass
class Sample:
    """A layer, or a function, what it is made with, and what it is called with: an array, or the shape of one that is
    drawn; a tuple of shapes stands for a tuple of tensors."""
    name: str
    made_with: tuple = ()
    options: dict = dataclasses.field(default_factory=dict)
    inputs: list = dataclasses.field(default_factory=list)
    low: float = -2     # what inputs are drawn between
    high: float = 2
    orders: int = 2     # gradients of which orders there are
    named: dict = dataclasses.field(default_factory=dict)  # further inputs, by name
    note: str = ''

    def __str__(self):
        return f'{self.name}{self.made_with}{self.options or ""}'


def layer(name, *made_with, inputs, **options):
    """A layer that is made with these arguments; low, high, orders, named and note are the sample's own."""
    own = {key: options.pop(key) for key in ('low', 'high', 'orders', 'named', 'note') if key in options}
    return Sample(name, made_with, options, inputs, **own)
