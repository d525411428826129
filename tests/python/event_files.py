"""A reader of TensorBoard's event files that shares nothing with the writer: the framing, CRC-32C bit by bit, and the fields
of protocol buffers."""
import pathlib
import struct


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(path):
    data, at = pathlib.Path(path).read_bytes(), 0
    while at < len(data):
        length, crc = struct.unpack_from('<QI', data, at)
        assert crc == masked(data[at:at + 8]), f'the length at byte {at}'
        body = data[at + 12:at + 12 + length]
        assert struct.unpack_from('<I', data, at + 12 + length)[0] == masked(body), f'the record at byte {at}'
        yield fields(body)
        at += 16 + length


def fields(data):
    """By number, the values of a message: integers, or bytes."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(kind) or varint()
            value = data[at:at + size]
            at += size
        found.setdefault(tag >> 3, []).append(value)
    return found


def doubles(data):
    return list(struct.unpack(f'<{len(data) // 8}d', data))


def events(folder):
    """(step, name, value) of all summaries, in the order of the files' names; graphs as lists of nodes, under 'graph'."""
    for path in sorted(pathlib.Path(folder).glob('events.out.tfevents.*')):
        for event in records(path):
            step = event.get(2, [0])[0]
            for graph in event.get(4, []):
                nodes = [fields(node) for node in fields(graph)[1]]
                yield step, 'graph', [(n[1][0].decode(), n[2][0].decode(), [i.decode() for i in n.get(3, [])]) for n in nodes]
            for summary in event.get(5, []):
                for value in map(fields, fields(summary).get(1, [])):
                    name = value[1][0].decode()
                    if 2 in value:
                        yield step, name, struct.unpack('<f', value[2][0])[0]
                    elif 5 in value:
                        h = fields(value[5][0])
                        yield step, name, {'least': doubles(h[1][0])[0], 'largest': doubles(h[2][0])[0],
                                           'count': doubles(h[3][0])[0], 'sum': doubles(h[4][0])[0],
                                           'edges': doubles(h[6][0]), 'counts': doubles(h[7][0])}
                    else:
                        image = fields(value[4][0])
                        yield step, name, (image[1][0], image[2][0], image[3][0], image[4][0])
