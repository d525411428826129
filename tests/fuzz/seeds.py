"""Writes what fuzzing begins with: small good files of every kind, and the words that they are made of.

  seeds.py OUT        OUT/X/* are seeds of fuzz_X, OUT/X.dict is its dictionary
"""
import base64, gzip, io, json, pathlib, struct, sys, zipfile, zlib

import onnx
from onnx import defs

GRAPH = """saltern graph 1
input x f32 [5, 3]
constant w f32 [2, 3]
constant b f32 [2]
node dense(x, w, b) -> h f32 [5, 2]
node pad(h) {pads = [1, 1, 1, 1], slope = 0.5, mode = "same", list = [1.5, 2.5], words = ["a", "b"]} -> "a b" f32 [7, 4]
node formula("a b") {element = formula "max(load(f32, 0, axis 0, axis 1), 0.0)"} -> y f32 [7, 4]
output y
"""


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(colour, channels, interlaced=0, extra=b""):
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 5, 4, 8, colour, 0, 0, interlaced))
    rows = zlib.compress((b"\1" + bytes(range(5 * channels))) * 4)
    return b"\x89PNG\r\n\x1a\n" + header + extra + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def idx(kind, shape, width):
    count = 1
    for extent in shape:
        count *= extent
    return bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + bytes(count * width)


def safetensors(metadata):
    header = {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
              "b": {"dtype": "F32", "shape": [2], "data_offsets": [24, 32]}, **metadata}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(32)


def npy(shape, kind):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(8)


def npz(method):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as z:
        for name, kind in [("x", "<f4"), ("y", "|u1")]:
            z.writestr(f"{name}.npy", npy("(2,)" if kind == "<f4" else "(8,)", kind))
    return archive.getvalue()


def jpegs():
    """Grey, and colours in several scans, as libjpeg wrote them."""
    return [base64.b64decode(text) for text in (
        '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8yb'
        'qmx5moq6T/wAALCAAFAAkBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIh'
        'MUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhI'
        'WGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/AMW2'
        'UcVc2iv/2Q==',
        '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8yb'
        'qmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wgARCAAF'
        'AAkDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAIF/8QAFAEBAAAAAAAAAAAAAAAAAAAAAf/aAAwDAQACEAMQAAABjSE//8QAFRABAQ'
        'AAAAAAAAAAAAAAAAAAAxD/2gAIAQEAAQUCGf/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQMBAT8Bf//EABQRAQAAAAAAAAAAAAAAAAAAAAD/'
        '2gAIAQIBAT8Bf//EABQQAQAAAAAAAAAAAAAAAAAAABD/2gAIAQEABj8CP//EABcQAQADAAAAAAAAAAAAAAAAAAABETH/2gAIAQEAAT8hjin/2g'
        'AMAwEAAgADAAAAEPf/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAEDAQE/EH//xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAECAQE/EH//xAAW'
        'EAEBAQAAAAAAAAAAAAAAAAAAARH/2gAIAQEAAT8QkYf/2Q==')]


def onnx_models(most_bytes=1500):
    data = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    return [m.read_bytes() for m in sorted(data.rglob("model.onnx")) if m.stat().st_size <= most_bytes]


def onnx_words():
    schemas = defs.get_all_schemas()
    return sorted({s.name for s in schemas} | {a for s in schemas for a in s.attributes} | {s.domain for s in schemas})


SEEDS = {
    "onnx": (onnx_models, onnx_words),
    "png": (lambda: [png(0, 1), png(2, 3), png(6, 4, 1),
                     png(3, 1, 0, chunk(b"PLTE", bytes(60)) + chunk(b"tRNS", b"\1")),
                     png(2, 3, 0, chunk(b"gAMA", b"\0\0\xb1\x8f") + chunk(b"zTXt", b"k\0\0" + zlib.compress(b"text")))],
            lambda: ["IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "zTXt", "iTXt", "bKGD"]),
    "idx": (lambda: [f(b) for b in (idx(8, (2, 3, 4), 1), idx(12, (5,), 4), idx(14, (2, 2), 8)) for f in (bytes, gzip.compress)],
            lambda: ["\\x1f\\x8b\\x08", "\\x00\\x00\\x08\\x03"]),
    "safetensors": (lambda: [safetensors({}), safetensors({"__metadata__": {"graph": GRAPH}})],
                    lambda: ["dtype", "shape", "data_offsets", "__metadata__", "graph", "F32", "F64", "BF16", "I64", "BOOL"]),
    "text": (lambda: [GRAPH.encode(), GRAPH.replace("graph 1", "graph 1\nsize n 117937\nsize h 115201 = 117938 / 2").replace("[5", "[117937").encode()],
             lambda: ["input ", "constant ", "node ", "output ", "formula ", "->", "f32", "i64", "load(", "axis ", "reduce"]),
    "jpeg": (jpegs, lambda: ["\\xff\\xd8", "\\xff\\xc0", "\\xff\\xc2", "\\xff\\xc4", "\\xff\\xda", "\\xff\\xdb", "\\xff\\xd9"]),
    "csv": (lambda: [b'a,b\n1,2\n3,"x, ""y"""\n', b'1;2\r\n-1e9;nan\r\n'], lambda: ['\\"', ",", "\\x0a", "nan", "inf", "1e"]),
    "npy": (lambda: [npy("(2,)", "<f4"), npy("(1, 8)", "|u1"), npy("()", ">i8")],
            lambda: ["descr", "fortran_order", "shape", "True", "False", "<f4", "<f8", "|b1", "|O"]),
    "npz": (lambda: [npz(zipfile.ZIP_STORED), npz(zipfile.ZIP_DEFLATED)],
            lambda: ["PK\\x01\\x02", "PK\\x03\\x04", "PK\\x05\\x06", "PK\\x06\\x06", "PK\\x06\\x07", ".npy"]),
}


def main():
    out = pathlib.Path(sys.argv[1])
    for name, (files, words) in SEEDS.items():
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        for i, data in enumerate(files()):
            (folder / str(i)).write_bytes(data)
        (out / f"{name}.dict").write_text("".join(f'"{w}"\n' for w in words() if w))


if __name__ == "__main__":
    main()
