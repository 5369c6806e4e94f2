"""Text -> other text: what a broken disk, a careless editor or an enemy may make of a file.

A mutator knows the structure of what it changes: fields of lines, nodes of JSON, numbers. Half of
the files whose structure is known keep it, so that what reads the content is reached and not only
the parser before it. All that a mutator does depends on the random numbers that it is given.
`containers.py` has those of archives, arrays, tensors and tables.
"""

import json
import re
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


def changed_text(data: bytes, rng: Random, name: str = "") -> bytes:
    """The content of a file of this name after a few changes."""
    changes = CHANGES
    for suffix, deeper in STRUCTURED.items():
        if name.endswith(suffix) and rng.random() < 0.5:
            changes = deeper
    for _ in range(1 + int(rng.expovariate(0.9))):
        data = rng.choice(changes)(data, rng)
    return data[:LONGEST]


def _span(data: bytes, rng: Random, most: int = 64) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randint(0, most))


def flip(data: bytes, rng: Random) -> bytes:
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


def insert_word(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng, rng.choice((0, 0, 6)))
    return data[:start] + rng.choice(WORDS) + data[end:]


def replace_number(data: bytes, rng: Random) -> bytes:
    found = list(NUMBER.finditer(data[:LONGEST]))
    if not found:
        return insert_word(data, rng)
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


def change_json(data: bytes, rng: Random) -> bytes:
    """Another value, name or nesting somewhere in the JSON of the file, or of a line of it."""
    lines = data.split(b"\n")
    place = rng.randrange(len(lines))
    for start, end in ((0, len(lines)), (place, place + 1)):
        try:
            document = json.loads(b"\n".join(lines[start:end]))
            # Few with line breaks: what writes these takes long where much is nested.
            indent = 1 if rng.random() < 0.1 else None
            text = json.dumps(_changed(document, rng), indent=indent)
        except (ValueError, RecursionError):  # no JSON, or what Python itself cannot write
            continue
        return b"\n".join([*lines[:start], text.encode(), *lines[end:]])
    return replace_number(data, rng)


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


def _change_toml(data: bytes, rng: Random) -> bytes:
    """Another value for one of the keys."""
    lines = data.split(b"\n")
    places = [place for place, line in enumerate(lines) if b"=" in line]
    if not places:
        return insert_word(data, rng)
    place = rng.choice(places)
    said = json.dumps(rng.choice(VALUES)).replace("Infinity", "inf").replace("NaN", "nan")
    lines[place] = lines[place].partition(b"=")[0] + b"= " + said.encode()
    return b"\n".join(lines)


CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    flip,
    _set_bytes,
    _cut,
    _shorten,
    _repeat,
    _move,
    insert_word,
    insert_word,
    replace_number,
    replace_number,
    _change_lines,
    _change_fields,
    _change_fields,
    change_json,
    change_json,
)
STRUCTURED: dict[str, tuple[Callable[[bytes, Random], bytes], ...]] = {
    **dict.fromkeys((".json", ".jsonl", ".jsonld"), (change_json,)),
    **dict.fromkeys((".tsv", ".csv", ".txt", ".del"), (_change_fields, _change_lines)),
    ".toml": (_change_toml,),
}
