"""Files and folders that are written whole or not at all: beside their place, then renamed.

What has its final name is on the disk: its bytes before the rename, the name after it. A command
that is killed leaves a folder `.NAME.XXXXXXXX.assent.part` (with what it was writing) or one that
ends in `.assent.old` (which was about to be replaced); whoever writes or reads there next removes
the one and, where the name is free, gives the other its name back. A process locks such a folder,
and the lock ends with the process: what is locked is left alone. Folders for scratch are of the
same kind.
"""

import errno
import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from assent.errors import AssentError, DataError, PlaceError
from assent.files.checksums import CHECKSUMS, digest, read_checksums, sealed, unsealed
from assent.files.guarding import MALFORMED
from assent.files.places import COMPLETION, CONSIDERED, DECIDER, FACTS, FOLDERS, SETTINGS
from assent.files.text import read_json

PART, OLD = ".assent.part", ".assent.old"
LEFT = re.compile(r"\.(?P<name>.+)\.[a-z0-9_]{8}\.assent\.(?P<kind>part|old)")
# Files of a run that are in no list of checksums: they have their own, or are one.
OWN = (CHECKSUMS, DECIDER, Path(DECIDER).with_suffix(".npz").name, COMPLETION, FACTS, CONSIDERED)
FULL = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)))
OVERWRITE = "give --overwrite (in Python, overwrite=True)"


class Beside(Protocol):
    """Gives a path to write a file to, which is renamed to `path` if no error occurs.

    Until then nobody else can read it; after that, whom `mode` and the umask allow. A file of a run
    or a benchmark is replaced only by what writes it for them, which says that it is its `own`.
    """

    def __call__(
        self, path: Path, mode: int = 0o666, *, own: bool = False
    ) -> AbstractContextManager[Path]: ...


@contextmanager
def beside(path: Path, mode: int = 0o666, *, own: bool = False) -> Iterator[Path]:
    """A path to write a file to, as `Beside` says; it has its name at the end of the context."""
    with ExitStack() as held:
        files = Together(held)
        with files.beside(path, mode, own=own) as part:
            yield part
        files.name()


class Written(NamedTuple):
    """A file that is whole, and has no name yet."""

    path: Path  # as it was asked for
    target: Path  # where that leads
    part: Path  # where it is


class Together:
    """Files that are all written before the first of them gets its name."""

    def __init__(self, held: ExitStack) -> None:
        self.held = held  # what is to be let go of when all have their names
        self.written: list[Written] = []
        self.going: list[Path] = []  # files that must be gone before the first has its name

    @contextmanager
    def beside(self, path: Path, mode: int = 0o666, *, own: bool = False) -> Iterator[Path]:
        """A path to write a file to, as `Beside` says; `name` gives it its name."""
        with _refusing(path):
            if not own:
                _refuse_owned(path)
            target = path.resolve()  # what a link leads to is replaced, not the link
            target.parent.mkdir(parents=True, exist_ok=True)
            tidy(target.parent)
            # In a folder: a writer may replace the file that it fills.
            part = self.held.enter_context(_part_folder(target)) / target.name
            part.touch()
            yield part
            part.chmod(mode & ~_umask())
            _sync(part)
            self.written.append(Written(path, target, part))

    def sums(self) -> dict[Path, str]:
        """The checksums of the files so far, by the places that they are to have."""
        return {file.target: digest(file.part) for file in self.written}

    def name(self) -> None:
        """Gives the files their names, in the order in which they were written."""
        for path in self.going:
            remove(path)
        for file in self.written:
            with _refusing(file.path):
                file.part.replace(file.target)
                _sync_folder(file.target.parent)


@contextmanager
def together(note: Path) -> Iterator[Together]:
    """Files that get their names together, at the end of the context; none does if an error occurs.

    Before the first has its name, all are noted with their checksums, until the last has it. So
    `left_behind` can tell what a command wrote that was killed in between.
    """
    with ExitStack() as held:
        files = Together(held)
        yield files
        named = {str(target): checksum for target, checksum in files.sums().items()}
        with beside(note, own=True) as part:
            part.write_text(json.dumps(sealed({"files": named})) + "\n", encoding="utf-8")
        files.name()
    remove(note)


def left_behind(path: Path, note: Path) -> bool:
    """Whether a command that came to no end gave this file its name, and nobody changed it since.

    The same command may replace it without being told to.
    """
    with suppress(DataError, OSError, *MALFORMED):
        if path.is_file() and note.is_file():
            named = unsealed(read_json(note), note)["files"]
            return bool(named.get(str(path.resolve())) == digest(path))
    return False


def remove(path: Path) -> None:
    """Takes a file away, if it is there; what is done after that finds it gone from the disk."""
    with _refusing(path):
        path.unlink(missing_ok=True)
        _sync_folder(path.parent)


@contextmanager
def folder_beside(
    path: Path, is_alike: Callable[[Path], bool], overwrite: bool = False
) -> Iterator[Path]:
    """A new folder to write to, which is renamed to `path` if no error occurs.

    A folder that is there already is replaced only if empty, or if it is alike and `overwrite`.
    """
    with _refusing(path):
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        tidy(target.parent)
        refuse_to_replace(path, is_alike, overwrite)
        with _part_folder(target) as part:
            yield part
            part.chmod(0o777 & ~_umask())
            put_folder(part, target, lambda: refuse_to_replace(path, is_alike, overwrite))


@contextmanager
def scratch(name: str, within: Path | None = None) -> Iterator[Path]:
    """A new folder for what nobody keeps, gone at the end.

    It lies in a folder of the user's, or in the system's own for such things, which is made if it
    is not there, and then is gone at the end as well, if it is empty. What killed commands left
    there is taken away first.
    """
    with ExitStack() as held:
        with _refusing(place := Path(within or tempfile.gettempdir())):
            place = place.resolve()
            made = [folder for folder in (place, *place.parents) if not folder.exists()]
            held.callback(_take_away, made)
            place.mkdir(parents=True, exist_ok=True)
            tidy(place)
            folder = held.enter_context(_part_folder(place / name))
        with full_at(Path(within or tempfile.gettempdir()) / name):
            yield folder


@contextmanager
def full_at(path: Path) -> Iterator[None]:
    """Says of a disk that is full which place of the user's is on it.

    What the system says names the file that was being copied, or none at all.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, AssentError) or not (reason := what_is_full(error)):
            raise
        raise PlaceError(f"{path}: cannot be written: {reason}; choose another place") from error


def _take_away(folders: Sequence[Path]) -> None:
    """Removes folders, the innermost first, up to one that is not empty."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def what_is_full(error: BaseException) -> str:
    """What an error says of a disk, a quota or a file that can take no more; else nothing.

    Libraries have kinds of their own for it, and only the system's words in common.
    """
    return next((words for words in FULL if words in str(error)), "")


def tidy(folder: Path) -> None:
    """Takes away what killed commands left in a folder, or gives it its name back.

    What cannot be looked at or changed stays: reading a folder needs no right to write to it.
    """
    try:
        left = [(entry, LEFT.fullmatch(entry.name)) for entry in os.scandir(folder)]
    except OSError:
        return
    for entry, named in left:
        if named is None:
            continue
        with suppress(OSError), _free(Path(entry.path)) as path:
            target = folder / named["name"]
            if named["kind"] == "old" and not target.exists():
                path.rename(target)
                _sync_folder(folder)
            else:
                shutil.rmtree(path)


def found_again(path: Path) -> Path:
    """The same path; a folder of this name that a killed command had set aside is back there."""
    if not path.exists():
        with _refusing(path):
            tidy(path.resolve().parent)
    return path


def refuse_to_replace(
    path: Path, is_alike: Callable[[Path], bool], overwrite: bool = False
) -> None:
    """Raises an error, before any work is done, if the result could not be saved.

    What is there is only ever replaced by something alike: a benchmark by a benchmark.
    """
    with _refusing(path):
        found_again(path.resolve())
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not (path.is_dir() and is_alike(path)):
        raise DataError(f"{path}: is there already, and is something else; choose another place")
    if not overwrite:
        raise DataError(f"{path}: is there already; choose another place, or {OVERWRITE}")


def anything(path: Path) -> bool:
    """Says of every file that it may be replaced: the user was asked."""
    return True


def refuse_to_write(
    path: Path,
    overwrite: bool = True,
    *,
    own: bool = False,
    is_alike: Callable[[Path], bool] = anything,
) -> None:
    """Raises an error, before any work is done, if a file must not be replaced or written.

    A command that replaces without being told to says by `is_alike` what it may replace.
    """
    with _refusing(path):
        if path.is_dir():
            raise DataError(f"{path}: is a folder; choose a file")
        if not own:
            _refuse_owned(path)
        if path.exists() and not overwrite:
            raise DataError(f"{path}: is there already; choose another place, or {OVERWRITE}")
        if path.is_file() and path.stat().st_size and not is_alike(path):
            raise DataError(
                f"{path}: is there already, and is something else; choose another place"
            )
        place = path.resolve().parent
        while not place.exists():
            place = place.parent
        with tempfile.NamedTemporaryFile(dir=place, prefix=f".{path.name}."):
            pass


def resolved(path: Path) -> Path:
    """Where a path leads in the end; an error for a link that leads to itself."""
    with _refusing(path):
        return path.resolve()


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Lets one process in at a time. The file that says so is gone when the last has left.

    A killed process leaves it, without its lock: the next one takes it up, and takes it away.
    """
    with _refusing(lock), ExitStack() as held:
        while True:
            handle = os.open(lock, os.O_RDONLY | os.O_CREAT, 0o600)
            held.callback(os.close, handle)
            with suppress(OSError):  # some file systems have no locks
                fcntl.flock(handle, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), lock.stat()):
                    break  # nobody took it away while we waited
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _refuse_owned(path: Path) -> None:
    """Raises an error for a file of a run or a benchmark, for nothing else belongs there.

    So it is for whatever lies in a folder that assent keeps within that of a run.
    """
    target = path.resolve()
    for folder in target.parents:
        if LEFT.fullmatch(folder.name):  # what is being made gets its place from whoever made it
            break
        if folder.name in FOLDERS and (folder.parent / SETTINGS).exists():
            raise DataError(
                f"{path}: {folder} is kept by assent for the run alone; choose another place"
            )
    owned = set(OWN) if (target.parent / SETTINGS).exists() else set()
    with suppress(DataError):  # what is no list of checksums vouches for nothing
        owned |= set(read_checksums(target.parent))
    if target.name in owned:
        raise DataError(
            f"{path}: is a file of the run or benchmark in {path.parent}; choose another place"
        )


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except AssentError:
        raise
    except Exception as error:
        # A link that leads to itself is a RuntimeError.
        if not (isinstance(error, OSError | RuntimeError) or what_is_full(error)):
            raise
        reason = getattr(error, "strerror", None) or what_is_full(error) or error
        raise PlaceError(f"{path}: cannot be written: {reason}; choose another place") from error


@contextmanager
def _part_folder(target: Path) -> Iterator[Path]:
    """A new folder beside the target, locked as long as this process writes to it."""
    while True:
        name = tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=PART)
        try:
            handle = os.open(name, os.O_RDONLY)
        except FileNotFoundError:  # another process took it for a leftover before it was locked
            continue
        with suppress(OSError):  # some file systems have no locks, and then nothing is tidied
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if (part := Path(name)).exists():
            break
        os.close(handle)
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)
        os.close(handle)


@contextmanager
def _free(path: Path) -> Iterator[Path]:
    """A folder that no other process holds; raises an OSError for one that is held."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield path
    finally:
        os.close(handle)


def put_folder(part: Path, target: Path, refuse: Callable[[], None]) -> None:
    """Gives a folder its final name; if that fails, the folder that had it keeps it.

    `refuse` raises an error where a folder of that name has come meanwhile and must stay.
    """
    for inner in (part, *part.rglob("*")):
        _sync(inner)
    try:
        part.rename(target)  # where nothing is, or an empty folder
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        refuse()
        old = part.with_name(part.name.removesuffix(PART) + OLD)
        target.rename(old)
        try:
            part.rename(target)
        except OSError:
            old.rename(target)
            raise
        _sync_folder(target.parent)  # the new name is on the disk before the old folder goes
        old.rename(part)  # what is removed in part must never get its name back
        shutil.rmtree(part, ignore_errors=True)
    _sync_folder(target.parent)


def _sync(path: Path) -> None:
    """Down to the disk: a crash must not leave a name without its bytes."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems do not know it for folders
        _sync(folder)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
