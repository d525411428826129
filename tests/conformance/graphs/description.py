"""A case as one line."""
from onnx import AttributeProto, helper

from graphs.parts import constants_of


def describe(case):
    """The operators with their attributes, operand shapes and small integer constants."""
    constants, texts = constants_of(case), []
    arrays = constants | case.feeds
    for node in case.nodes:
        if node.op_type == "Constant":
            continue
        attributes = [f"{a.name}={plain(helper.get_attribute_value(a))}" for a in node.attribute
                      if a.type not in (AttributeProto.TENSOR, AttributeProto.GRAPH)]
        operands = []
        for name in filter(None, node.input):
            array = arrays.get(name)
            if array is None:
                operands.append(name)
            elif name in constants and array.size <= (8 if array.dtype.kind in "iu" else 5):
                operands.append(str(plain(array.tolist())))
            else:
                operands.append(f"{array.dtype}{list(array.shape)}".replace(" ", ""))
        texts.append(f"{node.op_type}({', '.join(operands + attributes)})")
    return " > ".join(texts)


def plain(value):
    if isinstance(value, list):
        return [plain(each) for each in value]
    value = value.decode() if isinstance(value, bytes) else value
    return round(value, 4) if isinstance(value, float) else value
