"""PyTorch's modules as modules of ours: same layers, same state. PyTorch itself is not needed: a module is known by the
name of its class, what it was made with by its attributes."""
import numpy as np

from .containers import ModuleDict, ModuleList, Sequential
from .module import Module, class_of
from .._rows import layers

# Where arguments stand that are no attributes of their own name.
_block = {'d_model': 'self_attn.embed_dim', 'nhead': 'self_attn.num_heads', 'dim_feedforward': 'linear1.out_features',
          'dropout': 'dropout.p', 'layer_norm_eps': 'norm1.eps', 'batch_first': 'self_attn.batch_first',
          'bias': 'linear1.bias'}
_elsewhere = {'TransformerEncoderLayer': _block, 'TransformerDecoderLayer': _block, 'MultiheadAttention': {
    'bias': 'in_proj_bias', 'add_bias_kv': 'bias_k'}}
_lists = {'Sequential': Sequential, 'ModuleList': ModuleList}


def is_foreign(module):
    return not isinstance(module, (Module, type)) and hasattr(module, 'state_dict') and hasattr(module, 'named_children')


def _made_with(module, name):
    """What a layer was made with: a parameter stands for whether there is one."""
    options = {}
    for argument, required, default, _ in layers[name].made_with:
        value = module
        for step in _elsewhere.get(name, {}).get(argument, argument).split('.'):
            value = getattr(value, step, default)
        if isinstance(default, bool) and not isinstance(value, (bool, int)):
            value = value is not None
        options[argument] = from_torch(value) if is_foreign(value) else value
    return options


def from_torch(module):
    """The same net, with the same values, of layers that are here: `saltern.nn.from_torch(torchvision_model)`."""
    name = type(module).__name__
    if name in _lists:
        made = _lists[name]() if name == 'ModuleList' else Sequential()
        for part in module.children():
            made.append(from_torch(part))
    elif name == 'ModuleDict':
        made = ModuleDict({key: from_torch(part) for key, part in module.items()})
    elif name in layers:
        made = class_of(layers[name])(**_made_with(module, name))
    else:
        raise TypeError(f'from_torch: there is no layer {name} here; write it as a Module, and give it the state_dict()')
    made.load_state_dict({key: np.asarray(t.detach()) for key, t in module.state_dict().items()})
    return made.train(module.training)
