"""Encoders of sentences that lie on this disk: a table of vectors in a wheel, or a whole model."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ConfigError, DataError

Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]  # (sentence,) -> (sentence, width)
BATCH = 1024  # sentences cut into tokens at a time


def encoder(name: str) -> Encode:
    """The encoder of this name, or that of a folder of sentence-transformers; none is fetched."""
    if name in ENCODERS:
        return ENCODERS[name]()
    if not (folder := Path(name)).is_dir():
        raise ConfigError(
            f"model.encoder = {name!r}: no such folder; choose {', '.join(ENCODERS)}, or the "
            "folder of a sentence-transformers model on this disk (nothing is downloaded)"
        )
    return _sentence_transformers(folder)


def _no_vectors() -> Encode:
    return lambda sentences: np.empty((len(sentences), 0), np.float32)


def _wordllama() -> Encode:
    """The mean of the vectors of a sentence's tokens, by the table in the wheel of WordLlama.

    Its own `load` looks for the table in another folder and then wants to fetch it, so that the
    two files are opened here.
    """
    spec = find_spec("wordllama")
    tokenizers = _imported("tokenizers", "wordllama") if spec else None
    if spec is None or tokenizers is None or not spec.submodule_search_locations:
        raise ConfigError("model.encoder = 'wordllama' needs `pip install 'assent-kb[text]'`")
    folder = Path(spec.submodule_search_locations[0])
    tables = sorted((folder / "weights").glob("*.safetensors"))
    cutters = sorted((folder / "tokenizers").glob("*.json"))
    if not tables or not cutters:
        raise DataError(f"{folder}: no table in weights, or none in tokenizers; install it again")
    table = _table(tables[0])
    cutter = tokenizers.Tokenizer.from_file(str(cutters[0]))
    cutter.no_padding()
    cutter.no_truncation()

    def encode(sentences: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(sentences), table.shape[1]), np.float32)
        for first in range(0, len(sentences), BATCH):
            part = list(sentences[first : first + BATCH])
            for row, cut in enumerate(cutter.encode_batch(part, add_special_tokens=False), first):
                if cut.ids:
                    vectors[row] = table[cut.ids].mean(axis=0)
        return _of_length_one(vectors)

    return encode


def _table(path: Path) -> Vectors:
    """The one table of a file, (token, width)."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tables = list(load_file(path).values())
    except (SafetensorError, OSError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    if len(tables) != 1 or tables[0].ndim != 2:
        raise DataError(f"{path}: expected one table (token, width)")
    return tables[0].astype(np.float32)


def _sentence_transformers(folder: Path) -> Encode:
    """A model that the user has on disk; it is told not to ask the network for anything."""
    library = _imported("sentence_transformers", str(folder))
    try:
        model = library.SentenceTransformer(str(folder), local_files_only=True, device="cpu")
    except (OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{folder}: no sentence-transformers model ({reason})") from error

    def encode(sentences: Sequence[str]) -> Vectors:
        found = model.encode(list(sentences), convert_to_numpy=True, show_progress_bar=False)
        return _of_length_one(np.asarray(found, np.float32))

    return encode


def _imported(module: str, what: str) -> Any:
    try:
        return __import__(module)
    except ImportError as error:
        package = module.replace("_", "-")
        raise ConfigError(
            f"model.encoder = {what!r} needs {package}: `pip install {package}`"
        ) from error


def _of_length_one(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = vectors / np.maximum(lengths, 1e-12)
    return scaled


ENCODERS: dict[str, Callable[[], Encode]] = {"ngrams": _no_vectors, "wordllama": _wordllama}
