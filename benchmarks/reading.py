"""Reading graphs: against polars merely parsing the same files, and N-Triples by the second."""

import tempfile
from pathlib import Path

import polars as pl

import assent
from assent.core.facts import KnowledgeBase
from assent.core.vocabulary import Vocabulary
from assent.files.checksums import digest
from measuring import data_folder, medians


def parse(folder: Path) -> None:
    """What cannot be avoided: the same files as columns of text."""
    for name, width in (
        ("train.txt.gz", 3),
        ("valid.txt.gz", 3),
        ("test.txt.gz", 3),
        ("entity_names.tsv.gz", 2),
        ("relation_names.tsv.gz", 2),
    ):
        schema = {f"column_{place}": pl.String for place in range(width)}
        pl.read_csv(folder / name, separator="\t", has_header=False, quote_char=None, schema=schema)


def main() -> None:
    folder = data_folder() / "fb15k-237"
    kb = assent.read(folder)
    seconds = medians({"polars": lambda: parse(folder), "assent": lambda: assent.read(folder)})
    ratio = seconds["assent"] / seconds["polars"]
    print(f"FB15k-237, {len(kb.facts):,} facts into a KnowledgeBase")
    print(f"  polars parses the files   {1000 * seconds['polars']:7.0f} ms")
    print(
        f"  assent.read               {1000 * seconds['assent']:7.0f} ms   {ratio:.2f}x (goal 3x)"
    )
    print(digest_line(data_folder() / "fb14k-qaq"))
    with tempfile.TemporaryDirectory() as scratch:
        for base in ("http://example.org", "no IRI"):
            path = Path(scratch) / "facts.nt"
            assent.write(renamed(kb, base), path)
            took = medians({"nt": lambda path=path: assent.read(path)}, rounds=3)["nt"]
            speed = len(kb.facts) / took
            print(f"N-Triples, names {base + '...':<22} {speed:10,.0f} facts/s (goal 150,000)")


def digest_line(folder: Path) -> str:
    """What the checksum of the train file of FB14k-QAQ costs, beside reading that file."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "train.tsv"
        assent.write(KnowledgeBase.of_ids((kb := assent.load(folder)).vocabulary, kb.train), path)
        took = medians({"digest": lambda: digest(path), "read": lambda: assent.read(path)})
        size = path.stat().st_size / 1e6
    share = took["digest"] / took["read"]
    return (
        f"FB14k-QAQ, train facts in {size:.1f} MB: checksum {1000 * took['digest']:.0f} ms, "
        f"read {1000 * took['read']:.0f} ms, {share:.2f}x (goal: below 1x)"
    )


def renamed(kb: KnowledgeBase, base: str) -> KnowledgeBase:
    """The same facts, all in one part, behind another prefix."""
    vocabulary = Vocabulary(
        tuple(base + name for name in kb.vocabulary.entities),
        tuple(base + name for name in kb.vocabulary.relations),
    )
    return KnowledgeBase.of_ids(vocabulary, kb.facts)


if __name__ == "__main__":
    main()
