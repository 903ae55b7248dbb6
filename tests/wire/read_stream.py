"""Reads a stream with nothing but its schema and a protobuf library, and prints what is in it.

    read_stream.py FILE               prints
    read_stream.py --against TOOL     lets TOOL write a sample and compares with what TOOL prints of it

Needs protoc and the protobuf package (exit status 77 without). Checks every digest by an own implementation of the hash.
"""
import importlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
STRING = 8
MASK = (1 << 64) - 1


def rotl(x, r):
    return ((x << r) | (x >> (64 - r))) & MASK


def avalanche(x):
    x = ((x ^ (x >> 33)) * 0xFF51AFD7ED558CCD) & MASK
    x = ((x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53) & MASK
    return x ^ (x >> 33)


def murmur3(data):
    """MurmurHash3, x64, 128 bits, seed 0: (high, low)."""
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = 0
    whole = len(data) // 16 * 16
    for i in range(0, whole, 16):
        k1 = int.from_bytes(data[i:i + 8], "little")
        k2 = int.from_bytes(data[i + 8:i + 16], "little")
        h1 ^= rotl(k1 * c1 & MASK, 31) * c2 & MASK
        h1 = ((rotl(h1, 27) + h2) * 5 + 0x52DCE729) & MASK
        h2 ^= rotl(k2 * c2 & MASK, 33) * c1 & MASK
        h2 = ((rotl(h2, 31) + h1) * 5 + 0x38495AB5) & MASK
    tail = data[whole:]
    k1 = int.from_bytes(tail[:8], "little")
    k2 = int.from_bytes(tail[8:], "little")
    h2 ^= rotl(k2 * c2 & MASK, 33) * c1 & MASK
    h1 ^= rotl(k1 * c1 & MASK, 31) * c2 & MASK
    h1 ^= len(data)
    h2 ^= len(data)
    h1 = (h1 + h2) & MASK
    h2 = (h2 + h1) & MASK
    h1, h2 = avalanche(h1), avalanche(h2)
    h1 = (h1 + h2) & MASK
    return h1, (h2 + h1) & MASK


def content_hash(data):
    blocks = b""
    for i in range(0, len(data), 1 << 20):
        high, low = murmur3(data[i:i + (1 << 20)])
        blocks += high.to_bytes(8, "little") + low.to_bytes(8, "little")
    return murmur3(blocks)


def have_protobuf():
    try:
        return importlib.util.find_spec("google.protobuf") is not None
    except ModuleNotFoundError:  # no package `google` at all
        return False


def schema():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["protoc", f"--python_out={folder}", "-I", str(SCHEMAS), "graph.proto"], check=True)
        sys.path.insert(0, folder)
        return importlib.import_module("graph_pb2")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


class Stream:
    """The frames of a stream, its payloads put together."""

    def __init__(self, data, pb):
        self.pb, self.payloads, self.tests, self.ledger, at = pb, {}, [], [], 0
        hashed = b""
        while at < len(data):
            begin = at
            size, at = varint(data, at)
            frame = pb.Frame.FromString(data[at:at + size])
            at += size
            kind = frame.WhichOneof("kind")
            if kind == "end":
                assert (frame.end.digest.high, frame.end.digest.low) == murmur3(hashed), "digest of the stream"
                assert at == len(data), "something follows the end"
                self.ended = True
            elif kind == "chunk":
                payload = frame.chunk.payload
                where = at - len(payload)
                assert data[where:at] == payload, "the payload is not the last field"
                hashed += data[begin:where]
                self.add_chunk(frame.chunk, where)
            else:
                hashed += data[begin:at]
                self.add(kind, frame)
        assert self.ended

    def add(self, kind, frame):
        if kind == "header":
            assert frame.header.magic == b"infinitensor" and frame.header.format_version == 1
            self.tool = frame.header.tool.decode()
        elif kind == "graph":
            self.graph, self.constants = frame.graph.graph, frame.graph.constants
            self.lengths = {c.chunked.number: c.chunked.length for c in self.constants if c.HasField("chunked")}
        elif kind == "test_vector":
            self.tests.append(frame.test_vector)
        elif kind == "ledger":
            self.ledger = frame.ledger.entries
        elif kind == "contents":
            for number, digest in enumerate(frame.contents.digests):
                assert (digest.high, digest.low) == content_hash(bytes(self.payloads[number])), number
            assert len(frame.contents.digests) == len(self.payloads)

    def add_chunk(self, chunk, where):
        payload = self.payloads.setdefault(chunk.number, bytearray())
        assert chunk.offset == len(payload) and chunk.number == len(self.payloads) - 1
        if chunk.number in self.lengths:
            assert where % (4096 if self.lengths[chunk.number] >= 65536 else 64) == 0, "alignment"
        payload += chunk.payload

    def content(self, constant):
        if constant.HasField("chunked"):
            assert len(self.payloads[constant.chunked.number]) == constant.chunked.length
            return bytes(self.payloads[constant.chunked.number])
        return constant.inlined if constant.WhichOneof("payload") == "inlined" else None

    def digest(self, constant):
        content = self.content(constant)
        if content is None:
            return "absent"
        if constant.element_type == STRING:
            items = self.pb.Strings.FromString(content).items
            high, low = murmur3(b"".join(len(item).to_bytes(8, "little") + item for item in items))
        else:
            high, low = content_hash(content)
        return f"{high:016x}{low:016x}"


def nested(node):
    for attribute in node.attributes:
        if attribute.HasField("body"):
            yield attribute.body.graph
        for body in attribute.bodies.items:
            yield body.graph


def describe(stream, graph, indent=""):
    yield f"{indent}graph '{graph.name.decode()}'"
    names = [value.name.decode() for value in [*graph.inputs, *graph.captures, *graph.constants]]
    for value in graph.inputs:
        yield f"{indent}  input {value.name.decode()}"
    for value in graph.constants:
        constant = stream.constants[value.constant]
        extents = ",".join(map(str, constant.extents))
        yield f"{indent}  constant {value.name.decode()} {constant.element_type}[{extents}] {stream.digest(constant)}"
    for node in graph.nodes:
        attributes = "".join(" " + attribute.name.decode() for attribute in node.attributes)
        yield f"{indent}  node {node.domain.decode()}::{node.op.decode()} '{node.name.decode()}'{attributes}"
        names += [value.name.decode() for value in node.outputs if value.name]
        for inner in nested(node):
            yield from describe(stream, inner, indent + "    ")
    for output in graph.outputs:
        yield f"{indent}  output {names[output]}"


def summary(path, pb):
    stream = Stream(Path(path).read_bytes(), pb)
    yield f"tool {stream.tool}"
    yield from describe(stream, stream.graph)
    for test in stream.tests:
        inputs = "".join(" " + item.name.decode() for item in test.inputs)
        outputs = "".join(" " + item.name.decode() for item in test.outputs)
        yield f"test '{test.name.decode()}'{inputs} ->{outputs}"
    for entry in stream.ledger:
        yield f"ledger {entry.tool.decode()} {entry.version.decode()} {entry.options.decode()}"


def compare(tool, pb):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.itg"
        subprocess.run([tool, "sample", path, "40000"], check=True)
        theirs = subprocess.run([tool, "print", path], check=True, capture_output=True, text=True).stdout.splitlines()
        ours = list(summary(path, pb))
    for line, (a, b) in enumerate(zip(ours, theirs)):
        assert a == b, f"line {line}: here '{a}', there '{b}'"
    assert len(ours) == len(theirs), (len(ours), len(theirs))
    print(f"{len(ours)} lines agree, {sum('constant' in line for line in ours)} constants among them")


def main():
    if not shutil.which("protoc") or not have_protobuf():
        sys.exit(77)
    if sys.argv[1] == "--against":
        compare(sys.argv[2], schema())
    else:
        print("\n".join(summary(sys.argv[1], schema())))


main()
