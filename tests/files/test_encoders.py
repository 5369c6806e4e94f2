"""Encoders lie on this disk: a table in a wheel, or a folder; nothing is fetched."""

import importlib.machinery
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import save_file

from assent.errors import ConfigError, DataError
from assent.files import encoders
from assent.files.encoders import encoder

TABLE = np.array([[1, 0], [0, 2], [3, 4]], np.float16)
TOKENS = {"old": 0, "town": 1, "port": 2}


class Cutter:
    """As `tokenizers.Tokenizer`: words are tokens, unknown ones are left out."""

    @classmethod
    def from_file(cls, path):
        return cls()

    def no_padding(self): ...

    def no_truncation(self): ...

    def encode_batch(self, sentences, add_special_tokens):
        assert not add_special_tokens
        words = ([word for word in text.split() if word in TOKENS] for text in sentences)
        return [SimpleNamespace(ids=[TOKENS[word] for word in each]) for each in words]


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """A package laid out as WordLlama's wheel is."""
    for name in ("weights", "tokenizers"):
        (tmp_path / name).mkdir()
    save_file({"embedding.weight": TABLE}, tmp_path / "weights" / "l2_supercat_2.safetensors")
    (tmp_path / "tokenizers" / "l2_supercat_tokenizer_config.json").write_text("{}")
    spec = importlib.machinery.ModuleSpec("wordllama", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(encoders, "find_spec", lambda name: spec)
    monkeypatch.setitem(sys.modules, "tokenizers", SimpleNamespace(Tokenizer=Cutter))
    return tmp_path


def test_ngrams_need_no_vectors():
    assert encoder("ngrams")(["a", "b"]).shape == (2, 0)


def test_a_sentence_is_the_mean_of_its_tokens_at_length_one(wheel):
    found = encoder("wordllama")(["old town", "port", "nothing known", ""])
    half = np.array([0.5, 1.0])
    expected = [half / np.linalg.norm(half), [0.6, 0.8], [0, 0], [0, 0]]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_many_sentences_are_encoded_as_few_are(wheel, monkeypatch):
    sentences = ["old town", "port", "", "town port"] * 3
    together = encoder("wordllama")(sentences)
    monkeypatch.setattr(encoders, "BATCH", 5)
    assert np.array_equal(encoder("wordllama")(sentences), together)


def test_the_wheel_of_wordllama_itself():
    pytest.importorskip("tokenizers")
    if encoders.find_spec("wordllama") is None:
        pytest.skip("wordllama is not installed: pip install 'assent-kb[text]'")
    dog, puppy, tax = encoder("wordllama")(["dog", "puppy", "tax law"])
    assert dog.shape == (256,)
    assert dog @ puppy > dog @ tax + 0.1


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(encoders, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"needs `pip install 'assent-kb\[text\]'`"):
        encoder("wordllama")


def test_a_wheel_without_its_files_is_refused(wheel):
    (wheel / "weights" / "l2_supercat_2.safetensors").write_bytes(b"nonsense")
    with pytest.raises(DataError, match="cannot be read"):
        encoder("wordllama")
    (wheel / "weights" / "l2_supercat_2.safetensors").unlink()
    with pytest.raises(DataError, match="no table in weights"):
        encoder("wordllama")


def test_a_folder_is_opened_by_sentence_transformers_without_the_network(tmp_path, monkeypatch):
    asked = {}

    class SentenceTransformer:
        def __init__(self, path, **options):
            asked.update(options, path=path)

        def encode(self, sentences, **options):
            return np.array([[len(text), 0.0] for text in sentences])

    library = SimpleNamespace(SentenceTransformer=SentenceTransformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    found = encoder(str(tmp_path))(["abc", "", "d"])
    assert found.tolist() == [[1, 0], [0, 0], [1, 0]]
    assert asked == {"path": str(tmp_path), "local_files_only": True, "device": "cpu"}


def test_a_folder_that_holds_no_model_is_refused(tmp_path, monkeypatch):
    def refuse(path, **options):
        raise OSError("no modules.json\nand more")

    library = SimpleNamespace(SentenceTransformer=refuse)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    with pytest.raises(DataError, match=r"no sentence-transformers model \(no modules.json\)"):
        encoder(str(tmp_path))


def test_a_folder_without_the_library_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match="needs sentence-transformers: `pip install"):
        encoder(str(tmp_path))


def test_a_model_by_name_is_never_fetched():
    with pytest.raises(ConfigError, match=r"no such folder; choose ngrams, wordllama, or the"):
        encoder("sentence-transformers/all-MiniLM-L6-v2")
