"""Takes the expected files out of an archive, and nothing else."""

import gzip
import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from assent.datasets.catalogue import RemoteFile
from assent.errors import FetchError

# What the readers of others say of a damaged archive; a size may be more than a number can be.
WRONG = (tarfile.TarError, gzip.BadGzipFile, EOFError, ValueError, OverflowError, zlib.error)


class _Bounded(gzip.GzipFile):
    """Stops at a limit: a small archive can unpack to terabytes of zeros."""

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(path)
        self.limit = limit

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if self.tell() > self.limit:
            raise tarfile.TarError(f"unpacks to more than {self.limit:,} bytes")
        return data


def unpack(file: RemoteFile, folder: Path, limit: int) -> None:
    """Writes the expected members into `folder`; links and paths outside it are refused."""
    missing = set(file.members)
    try:
        # As a stream, so that the bound also holds for what is skipped.
        with (
            _Bounded(folder / file.name, limit) as stream,
            tarfile.open(fileobj=stream, mode="r|") as archive,
        ):
            for member in archive:
                if archive.offset > limit:  # the reader would count its way there, for ever
                    raise tarfile.TarError(f"member {member.name!r} is larger than the archive")
                name = _expected(member, file.members)
                if name in missing:
                    with (folder / name).open("wb") as out:
                        shutil.copyfileobj(_content(archive, member), out)
                    missing.remove(name)
    except WRONG as problem:
        raise FetchError(f"{file.url}: {problem}; expected a tar.gz of plain files") from problem
    if missing:
        raise FetchError(f"{file.url}: no {', '.join(sorted(missing))} in the archive")


def _expected(member: tarfile.TarInfo, names: tuple[str, ...]) -> str | None:
    """Which of `names` this member is, in whatever folder of the archive."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise tarfile.TarError(f"member {member.name!r} lies outside the folder")
    return path.name if path.name in names else None


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    # The zeros of a sparse file do not come through the stream that has the limit.
    plain = member.isreg() and not member.issparse()
    content = archive.extractfile(member) if plain else None
    if content is None:
        raise tarfile.TarError(f"member {member.name!r} is a link or another special file")
    return content
