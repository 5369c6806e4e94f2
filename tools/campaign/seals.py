"""Checksums of mutated files, made right again: so that the parser behind the checksum is reached.

An enemy can compute checksums as well as we can. What refuses a wrong checksum is one line of code;
what lies behind it is thousands, and most mutated files should get there.
"""

import hashlib
import io
import json
import zipfile
import zlib
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from assent.files.arrays import arrays_in, seal_of
from assent.files.checksums import CHECKSUMS, SEAL, sealed
from assent.files.packs import ABOUT
from assent.files.places import COMPLETION, FACTS
from assent.reviewing.proposals import DESIGN
from campaign.containers import mutated

UNREADABLE = (ValueError, TypeError, OSError, KeyError, AttributeError, RecursionError)

ODD_NAMES = ("../x.json", "a/b/x.tsv", "x.py", "X.json", "/x.tsv", "x\n.tsv", "C:x.tsv")


def renew(folder: Path, file: Path) -> None:
    """Makes right what vouches for a file of this folder: its own seal, and the folder's."""
    try:
        _own(file)
        for other in _others(file):
            _own(other)
        if file.name != CHECKSUMS:
            _of_folder(file)
    except UNREADABLE:  # nothing that a checksum could be about
        pass


def _own(file: Path) -> None:
    if file.suffix == ".json":
        document = json.loads(file.read_bytes())
        if isinstance(document, dict) and SEAL in document:
            del document[SEAL]
            file.write_text(json.dumps(sealed(document)), encoding="utf-8")
    elif file.suffix == ".npz":
        _own_arrays(file)


def _own_arrays(file: Path) -> None:
    try:
        arrays = arrays_in(file.read_bytes())
    except Exception:  # whatever the parsers of others say: the file stays as it is
        return
    if arrays.pop(SEAL, None) is not None:
        named: dict[str, Any] = {**arrays, SEAL: np.asarray(seal_of(arrays))}
        with file.open("wb") as packed:
            np.savez(packed, **named)


def _others(file: Path) -> list[Path]:
    """Documents that hold the checksum of this file, which they now hold right."""
    for voucher, within, name in (
        (file.with_suffix(".json"), (), "sha256"),
        (file.with_suffix(".json"), ("judge",), "trees"),
        (file.with_name(COMPLETION), (), "facts" if file.name == FACTS else ""),
        (file.with_name(DESIGN), ("files",), file.name),
    ):
        if voucher == file or not voucher.is_file():
            continue
        document = json.loads(voucher.read_bytes())
        place = document
        for key in within:
            place = place.get(key, {})
        if name in place:
            place[name] = hashlib.sha256(file.read_bytes()).hexdigest()
            voucher.write_text(json.dumps(document), encoding="utf-8")
            return [voucher]
    return []


def _of_folder(file: Path) -> None:
    path = file.with_name(CHECKSUMS)
    if not path.is_file():
        return
    document = json.loads(path.read_bytes())
    if file.name in document["files"]:
        document["files"][file.name] = [hashlib.sha256(file.read_bytes()).hexdigest()]
        path.write_text(json.dumps(document), encoding="utf-8")
        _own(path)


def changed_pack(data: bytes, rng: Random) -> bytes:
    """A pack of which one member is mutated; mostly its checksums are right again."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, *UNREADABLE):
        return mutated(data, rng, "")
    name = rng.choice(list(members))
    members[name] = mutated(members[name], rng, name)
    if rng.random() < 0.1:
        members[rng.choice(("../x.json", "a/b/x.tsv", "x.py", "X.json", "/x.tsv", "x\n.tsv"))] = (
            b"{}"
        )
    if rng.random() < 0.8:
        members[ABOUT] = _true_about(members)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return packed.getvalue()


def _true_about(members: dict[str, bytes]) -> bytes:
    """`pack.json` with the checksums of what is there now."""
    about = members.get(ABOUT, b"")
    try:
        document = json.loads(about)
        del document[SEAL]
        for name, content in members.items():
            if name != ABOUT:
                document["files"][name] = hashlib.sha256(content).hexdigest()
        return json.dumps(sealed(document)).encode()
    except UNREADABLE:
        return about
