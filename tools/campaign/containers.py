"""Bytes -> other bytes of files that hold others: archives, arrays, tensors, tables of Parquet.

What is inside is changed, and the frame around it is made right again, so that the reader of what
is inside is reached. One in three is changed as bytes, frame and all.
"""

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from random import Random

import polars as pl

from campaign.mutating import (
    WORDS,
    change_json,
    changed_text,
    flip,
    insert_word,
    replace_number,
)

BLOCK = 512  # bytes of a header in a tar archive
SUM = slice(148, 156)  # of these, its checksum
FIELDS = {  # from where to where in a header in a tar archive -> values that are not expected there
    (0, 100): (b"../x", b"/x", b"set/train.tsv", b"", b"x" * 100, b"\xff"),
    (100, 108): (b"0000777\0", b"", b"zzzzzzz\0"),
    (124, 136): (b"77777777777\0", b"\x80" + b"\xff" * 11, b"00000000000\0", b"-1", b""),
    (156, 157): (b"0", b"1", b"2", b"3", b"5", b"6", b"L", b"K", b"x", b"g", b"S", b"\0"),
    (157, 257): (b"/etc/passwd", b"../..", b"set/train.tsv"),
    (257, 265): (b"", b"ustar  \0"),
}


def mutated(data: bytes, rng: Random, name: str) -> bytes:
    """The content of a file of this name after a few changes."""
    for suffix, inner in PACKED.items():
        if name.endswith(suffix) and rng.random() < 0.7:
            return inner(data, rng)
    return changed_text(data, rng, name)


def _gzipped(data: bytes, rng: Random) -> bytes:
    try:
        return gzip.compress(changed_text(gzip.decompress(data), rng), 1)
    except (OSError, EOFError, zlib.error):
        return flip(data, rng)


def _zipped(data: bytes, rng: Random) -> bytes:
    """The same archive, one of its members mutated, or named otherwise, or gone."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, EOFError, ValueError):
        return flip(data, rng)
    if not members:
        return flip(data, rng)
    name = rng.choice(list(members))
    content = members.pop(name)
    if rng.random() < 0.9:
        named = name if rng.random() < 0.9 else rng.choice(("../x.npy", "x", "x.npy"))
        members[named] = _array(content, rng) if rng.random() < 0.6 else changed_text(content, rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return packed.getvalue()


def _array(data: bytes, rng: Random) -> bytes:
    """A .npy file whose header says something else, of the right length."""
    if data[:6] != b"\x93NUMPY":
        return flip(data, rng)
    (length,) = struct.unpack("<H", data[8:10])
    header = rng.choice((replace_number, insert_word, flip))(data[10 : 10 + length], rng)
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
        return flip(data, rng)
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
        header = rng.choice((change_json, replace_number, flip))(header, rng)
    return struct.pack("<Q", len(header)) + header + rest


def _tarred(data: bytes, rng: Random) -> bytes:
    """A header of a tar archive that says something else, its checksum right again."""
    try:
        whole = bytearray(gzip.decompress(data))
    except (OSError, EOFError, zlib.error):
        return flip(data, rng)
    starts = [
        at for at in range(0, len(whole) - BLOCK, BLOCK) if whole[at + 257 : at + 262] == b"ustar"
    ]
    if not starts:
        return flip(data, rng)
    at = rng.choice(starts)
    header = whole[at : at + BLOCK]
    for _ in range(rng.randint(1, 3)):
        start, stop = rng.choice(list(FIELDS))
        value = rng.choice(FIELDS[start, stop])
        header[start:stop] = value.ljust(stop - start, b"\0")[: stop - start]
    header[SUM] = b" " * 8
    header[SUM] = b"%06o\0 " % sum(header)
    whole[at : at + BLOCK] = header
    return gzip.compress(bytes(whole), 1)


def _table(data: bytes, rng: Random) -> bytes:
    """A Parquet file with other columns, kinds of values, or values; or its pages changed."""
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except Exception:  # it is what it is
        return flip(data, rng)
    name = rng.choice(frame.columns)
    match rng.randrange(6):
        case 0:
            other = rng.choice(("x", "", "Head", "score ", "\x1b[2J"))
            frame = frame.rename({name: other})
        case 1:
            frame = frame.drop(name)
        case 2:
            kind = rng.choice(
                (pl.Categorical, pl.Binary, pl.Int64, pl.Float64, pl.Null, pl.List(pl.String))
            )
            frame = frame.with_columns(pl.lit(None, kind).alias(name))
        case 3:
            word = rng.choice(WORDS).decode(errors="replace")
            frame = frame.with_columns(pl.lit(word).alias(name))
        case 4:
            number = rng.choice((0, -1, 2**63 - 1, 1e308, float("nan"), float("inf")))
            frame = frame.with_columns(pl.lit(number).alias(name))
        case _:
            frame = frame.head(rng.randrange(3))
    packed = io.BytesIO()
    frame.write_parquet(packed, compression="uncompressed")
    content = packed.getvalue()
    if rng.random() < 0.5:  # within the pages: the end, which says where they lie, stays
        place = rng.randrange(4, max(5, len(content) // 2))
        content = content[:place] + rng.randbytes(1) + content[place + 1 :]
    return content


PACKED: dict[str, Callable[[bytes, Random], bytes]] = {
    ".tar.gz": _tarred,
    ".gz": _gzipped,
    ".npz": _zipped,
    ".pt": _zipped,
    ".npy": _array,
    ".safetensors": _tensors,
    ".parquet": _table,
}
