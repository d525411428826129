"""The nets whose training steps bench/peers.py compares, in PyTorch, and as ONNX for `saltern bench --train`.

    python bench/training_nets.py FOLDER [NAME ...]      # writes FOLDER/NAME.onnx, weights of a fixed seed
"""
import sys
from pathlib import Path

# The batch, the shape of a sample, and the classes of each.
SIZES = {
    "mlp": (64, (784,), 10),
    "lenet5": (64, (1, 28, 28), 10),
    "small_cnn": (64, (1, 28, 28), 10),
    "resnet18": (16, (3, 64, 64), 1000),
    "lstm": (32, (64, 256), 10),
    "transformer": (16, (64, 256), 10),
}


def small_cnn(nn):
    layers, c = [], 1
    for width in (32, 64):
        for _ in range(2):
            layers += [nn.Conv2d(c, width, 3, padding=1), nn.ReLU()]
            c = width
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 7 * 7, 10))


def resnet18(nn):
    class Block(nn.Module):
        def __init__(self, c, width, stride):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(c, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                      nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
            self.skip = nn.Sequential(nn.Conv2d(c, width, 1, stride, bias=False),
                                      nn.BatchNorm2d(width)) if stride > 1 else nn.Identity()
            self.end = nn.ReLU()

        def forward(self, x):
            return self.end(self.body(x) + self.skip(x))

    layers, c = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for width in (64, 128, 256, 512):
        layers += [Block(c, width, 1 if width == c else 2), Block(width, width, 1)]
        c = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def sequence(nn, body, pool):
    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = body, nn.Linear(256, 10)

        def forward(self, x):
            return self.head(pool(self.body(x)))
    return Classifier()


def made(name):
    from torch import nn
    if name == "mlp":
        return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    if name == "lenet5":
        return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                             nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84),
                             nn.ReLU(), nn.Linear(84, 10))
    if name == "small_cnn":
        return small_cnn(nn)
    if name == "resnet18":
        return resnet18(nn)
    if name == "lstm":
        return sequence(nn, nn.LSTM(256, 256, 2, batch_first=True), lambda y: y[0][:, -1])
    layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, activation="gelu", batch_first=True)
    return sequence(nn, nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), lambda y: y.mean(1))


def net_named(name):
    import torch
    torch.manual_seed(0)
    net = made(name)
    with torch.no_grad():  # the exporter makes one of those that are equal, such as copies of a transformer's layer
        for p in net.parameters():
            p.add_(torch.randn_like(p), alpha=1e-3)
    return net


def step_of(name, compiled=False):
    """A function that takes one step of plain SGD on noise and gives the loss."""
    import torch
    batch, shape, classes = SIZES[name]
    net = net_named(name).train()
    x, y = torch.randn(batch, *shape), torch.randint(0, classes, (batch,))
    optimizer, loss_of = torch.optim.SGD(net.parameters(), lr=0.01), torch.nn.CrossEntropyLoss()
    forward = torch.compile(net) if compiled else net

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(forward(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()
    return step


def export(name, path):
    import torch
    batch, shape, _ = SIZES[name]
    torch.onnx.export(net_named(name).eval(), (torch.zeros(batch, *shape),), str(path), dynamo=False, opset_version=17,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)


def main():
    if len(sys.argv) < 2 or set(sys.argv[2:]) - set(SIZES):
        sys.exit(f"{__doc__}\nNames: {', '.join(SIZES)}")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or SIZES:
        export(name, folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
