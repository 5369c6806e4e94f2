"""Only the expected files leave an archive; a hostile one is refused."""

import dataclasses
import gzip
import os
import re
import tarfile
from pathlib import Path

import pytest

from assent.errors import FetchError
from datasets.getting import HASTY, get, nothing_final
from datasets.loopback import (
    FACTS,
    Loopback,
    archived,
    tar_gz,
)


@pytest.mark.parametrize("name", ["train.txt", "./train.txt", "toy/train.txt"])
def test_only_the_expected_members_of_an_archive_are_kept(
    server: Loopback, tmp_path: Path, name: str
) -> None:
    archive = tar_gz((tarfile.TarInfo("extra.txt"), b"?"), (tarfile.TarInfo(name), FACTS))
    folder = get(tmp_path, archived(server, archive))
    assert [path.name for path in folder.iterdir()] == ["train.txt"]
    assert (folder / "train.txt").read_bytes() == FACTS


def special(kind: bytes, target: str = "", **headers: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo("train.txt")
    info.type, info.linkname, info.pax_headers = kind, target, headers
    return info


SPARSE = {"GNU.sparse.map": "0,1", "GNU.sparse.size": "9999999"}  # one byte, then a hole


def sparse_header(stored: int, whole: int) -> bytes:
    """A header of GNU's old sparse files: the archive holds less than the file."""
    info = special(tarfile.GNUTYPE_SPARSE)
    info.size = stored
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"%011o\0" % whole
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def tar_gz_of(header: bytes) -> bytes:
    return gzip.compress(header + bytes(2048))


HOSTILE = {
    "climbs out": tar_gz((tarfile.TarInfo("../evil"), b"?"), (tarfile.TarInfo("train.txt"), b"?")),
    "absolute": tar_gz((tarfile.TarInfo("/train.txt"), b"?")),
    "symbolic link": tar_gz((special(tarfile.SYMTYPE, "/etc/hostname"), b"")),
    "hard link": tar_gz((special(tarfile.LNKTYPE, "/etc/hostname"), b"")),
    "pipe": tar_gz((special(tarfile.FIFOTYPE), b"")),
    "mostly hole": tar_gz((special(tarfile.REGTYPE, **SPARSE), b"?")),
    "too large": tar_gz((tarfile.TarInfo("train.txt"), bytes(2_000_000))),
    "too large besides": tar_gz(
        (tarfile.TarInfo("zeros"), bytes(2_000_000)), (tarfile.TarInfo("train.txt"), b"?")
    ),
    "lacks the member": tar_gz((tarfile.TarInfo("other.txt"), b"?")),
    "cut": tar_gz((tarfile.TarInfo("train.txt"), os.urandom(5000)))[:3000],
    "a size beyond any number": tar_gz((special(tarfile.REGTYPE, size=str(10**30)), b"?")),
    "a size that takes for ever to count to": tar_gz(
        (special(tarfile.REGTYPE, size=str(2**62)), b"?"), (tarfile.TarInfo("x"), b"?")
    ),
    "a hole of a size that takes for ever to count to": tar_gz_of(
        sparse_header(stored=2**80, whole=0)
    ),
    "no archive": b"<html>log in</html>",
}


@pytest.mark.parametrize("archive", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_archive_is_refused(server: Loopback, tmp_path: Path, archive: bytes) -> None:
    home = tmp_path / "deep" / "home"
    with pytest.raises(FetchError, match=re.escape(server.url("toy.tar.gz"))):
        get(home, archived(server, archive), dataclasses.replace(HASTY, largest=1_000_000))
    assert nothing_final(home)
    assert not list(tmp_path.rglob("evil"))
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))
