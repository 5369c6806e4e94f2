"""Bytes -> other bytes: what a broken disk, a careless editor or an enemy may make of a file.

A mutator knows the structure of what it changes: fields of lines, nodes of JSON, numbers in text,
members of archives, headers of tensors. All that it does depends on the random numbers it is given.
"""

import gzip
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

LONGEST = 1 << 16  # bytes of a mutated file
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")

NUMBERS = (
    b"0", b"-1", b"-0.0", b"1e400", b"-1e400", b"1e-400", b"NaN", b"nan", b"Infinity", b"inf",
    b"2147483647", b"2147483648", b"-2147483649", b"9223372036854775807", b"9223372036854775808",
    b"1000000000", b"1000000", b"0.5", b"1.5", b"9" * 400, b"9" * 5000, b"0x10", b"1_000", b"",
    b"1e9", b"true", b"\xd9\xa1\xd9\xa2",
)  # fmt: skip
WORDS = (
    b'\x1b[2J', b'\x1b]0;x\x07', b'[/]', b'[red]', b'[part_of]', b'\x00', b'\r', b'\n', b'\t',
    b'\\', b'"', b"'", b'%s%n', b'{}', b'=1+1', b'@x', b'-1', b'\xef\xbb\xbf', b'\xff\xfe',
    b'\xed\xa0\x80', b'\xe2\x80\xae', b'\xe2\x80\xa8', b'_:b0', b'"literal"@en', b'<urn:x>', b'?',
    b'_', b'..', b'/', b'../../x', b'/dev/null', b"a" * 300, b'\xf0\x9f\x98\x80', b'CON', b' ',
    b'#', b'urn:assent:a', b'urn:assent:%09', b'e\xcc\x81', b'\xc2\xa0', b'null', b'__proto__',
    b'$(x)', b'`x`',
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, 0.5, -0.5, 1e308, float("inf"),
    float("-inf"), float("nan"), "", "x", "nan", "inf", "\x1b[2J", "\ud800", "[/]", "a\tb", "a\nb",
    [], {}, [None], [[]], {"": ""}, {"x": {}}, [1, 2, 3], "9" * 30, "/dev/null", "..",
)  # fmt: skip


def mutated(data: bytes, rng: Random, name: str) -> bytes:
    """The content of a file of this name after a few changes."""
    for suffix, inner in PACKED.items():
        if name.endswith(suffix) and rng.random() < 0.7:
            return inner(data, rng)
    for _ in range(1 + int(rng.expovariate(0.9))):
        data = rng.choice(CHANGES)(data, rng)
    return data[:LONGEST]


def _span(data: bytes, rng: Random, most: int = 64) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randint(0, most))


def _flip(data: bytes, rng: Random) -> bytes:
    if not data:
        return b"\x00"
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]


def _set_bytes(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng, 8)
    return data[:start] + rng.randbytes(end - start) + data[end:]


def _cut(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng, 200)
    return data[:start] + data[end:]


def _shorten(data: bytes, rng: Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _repeat(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[start:end] * rng.choice((2, 3, 100)) + data[end:]


def _move(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng)
    there, _ = _span(data, rng)
    return data[:there] + data[start:end] + data[there:]


def _insert_word(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng, rng.choice((0, 0, 6)))
    return data[:start] + rng.choice(WORDS) + data[end:]


def _replace_number(data: bytes, rng: Random) -> bytes:
    found = list(NUMBER.finditer(data[:LONGEST]))
    if not found:
        return _insert_word(data, rng)
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(NUMBERS) + data[one.end() :]


def _change_lines(data: bytes, rng: Random) -> bytes:
    lines = data.split(b"\n")
    place = rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, lines[rng.randrange(len(lines))])
        case 2:
            rng.shuffle(lines)
        case 3:
            lines[place] = b""
        case _:
            lines[place] += b"\r"
    return b"\n".join(lines)


def _change_fields(data: bytes, rng: Random) -> bytes:
    lines = data.split(b"\n")
    place = rng.randrange(len(lines))
    separator = rng.choice((b"\t", b"\t", b",", b" "))
    fields = lines[place].split(separator)
    at = rng.randrange(len(fields))
    match rng.randrange(5):
        case 0:
            del fields[at]
        case 1:
            fields.insert(at, fields[rng.randrange(len(fields))])
        case 2:
            fields[at] = rng.choice(WORDS)
        case 3:
            fields[at] = b""
        case _:
            rng.shuffle(fields)
    lines[place] = separator.join(fields)
    return b"\n".join(lines)


def _change_json(data: bytes, rng: Random) -> bytes:
    """Another value, name or nesting somewhere in the JSON of the file, or of a line of it."""
    lines = data.split(b"\n")
    place = rng.randrange(len(lines))
    for start, end in ((0, len(lines)), (place, place + 1)):
        try:
            document = json.loads(b"\n".join(lines[start:end]))
        except (ValueError, RecursionError):
            continue
        text = json.dumps(_changed(document, rng), indent=rng.choice((None, 1)))
        return b"\n".join([*lines[:start], text.encode(), *lines[end:]])
    return _replace_number(data, rng)


def _changed(node: Any, rng: Random) -> Any:
    """A document of which one node is another."""
    if isinstance(node, dict) and node and rng.random() < 0.85:
        key = rng.choice(list(node))
        if (what := rng.random()) < 0.1:
            return {name: value for name, value in node.items() if name != key}
        if what < 0.2:
            return {**node, rng.choice(("x", "", "[/]", "format")): rng.choice(VALUES)}
        return {**node, key: _changed(node[key], rng)}
    if isinstance(node, list) and node and rng.random() < 0.85:
        place = rng.randrange(len(node))
        if (what := rng.random()) < 0.1:
            return node[:place] + node[place + 1 :]
        if what < 0.2:
            return node + node[place : place + 1]
        return [*node[:place], _changed(node[place], rng), *node[place + 1 :]]
    if rng.random() < 0.02:
        for _ in range(rng.choice((50, 900))):
            node = [node]
        return node
    if isinstance(node, int | float) and rng.random() < 0.3:
        return -node if rng.random() < 0.5 else node * 10**9
    return rng.choice(VALUES)


def _gzipped(data: bytes, rng: Random) -> bytes:
    try:
        return gzip.compress(mutated(gzip.decompress(data), rng, ""), 1)
    except (OSError, EOFError, zlib.error):
        return _flip(data, rng)


def _zipped(data: bytes, rng: Random) -> bytes:
    """The same archive, one of its members mutated, or named otherwise, or gone."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, EOFError, ValueError):
        return _flip(data, rng)
    if not members:
        return _flip(data, rng)
    name = rng.choice(list(members))
    content = members.pop(name)
    if rng.random() < 0.9:
        named = name if rng.random() < 0.9 else rng.choice(("../x.npy", "x", "x.npy"))
        members[named] = _array(content, rng) if rng.random() < 0.6 else mutated(content, rng, "")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return packed.getvalue()


def _array(data: bytes, rng: Random) -> bytes:
    """A .npy file whose header says something else, of the right length."""
    if data[:6] != b"\x93NUMPY":
        return _flip(data, rng)
    (length,) = struct.unpack("<H", data[8:10])
    header = rng.choice((_replace_number, _insert_word, _flip))(data[10 : 10 + length], rng)
    if rng.random() < 0.4:
        was, now = (
            rng.choice((b"<f8", b"<i4", b"<i8", b"|b1", b"<U")),
            rng.choice((b"|O", b"<f4", b"<i8", b"|S9", b"<U4", b">f8", b"|V8")),
        )
        header = header.replace(was, now)
    return data[:8] + struct.pack("<H", len(header) & 0xFFFF) + header + data[10 + length :]


def _tensors(data: bytes, rng: Random) -> bytes:
    """A .safetensors file whose header says something else, of the right length."""
    if len(data) < 8:
        return _flip(data, rng)
    (length,) = struct.unpack("<Q", data[:8])
    header, rest = data[8 : 8 + length], data[8 + length :]
    if rng.random() < 0.3:
        place = rng.randrange(len(rest) + 1)
        rest = (
            rest[:place]
            + rng.choice((b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f"))
            + rest[place + 4 :]
        )
    else:
        header = rng.choice((_change_json, _replace_number, _flip))(header, rng)
    return struct.pack("<Q", len(header)) + header + rest


CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    _flip,
    _set_bytes,
    _cut,
    _shorten,
    _repeat,
    _move,
    _insert_word,
    _insert_word,
    _replace_number,
    _replace_number,
    _change_lines,
    _change_fields,
    _change_fields,
    _change_json,
    _change_json,
)
PACKED: dict[str, Callable[[bytes, Random], bytes]] = {
    ".gz": _gzipped,
    ".npz": _zipped,
    ".npy": _array,
    ".safetensors": _tensors,
}
