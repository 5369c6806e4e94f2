"""KGX pairs: edges are facts, nodes have names and categories."""

import gzip

import pytest

from assent.errors import DataError
from assent.files.triples import read
from toy import named_facts

NODES = (
    "id\tcategory\tname\n"
    "G:1\tbiolink:Gene|biolink:NamedThing\tBRCA1\nD:1\tbiolink:Disease\t\nX:9\t\tunused\n"
)
EDGES = "id\tsubject\tpredicate\tobject\trelation\ne1\tG:1\tbiolink:causes\tD:1\tRO:1\n"


def put(folder, nodes=NODES, edges=EDGES, stem="kg_"):
    (folder / f"{stem}nodes.tsv").write_text(nodes)
    (folder / f"{stem}edges.tsv").write_text(edges)
    return folder


@pytest.mark.parametrize("stem", ["kg_", ""])
@pytest.mark.parametrize("by", ["folder", "file"])
def test_edges_are_facts_and_nodes_have_names_and_types(stem, by, tmp_path):
    put(tmp_path, stem=stem)
    kb = read(tmp_path if by == "folder" else tmp_path / f"{stem}edges.tsv")
    assert named_facts(kb.facts, kb.vocabulary) == {("G:1", "biolink:causes", "D:1")}
    assert kb.vocabulary.entity_labels == ("D:1", "BRCA1")
    assert kb.types.names == ("biolink:Disease", "biolink:Gene", "biolink:NamedThing")
    assert [row.meaning for row in kb.source.taken] == ["facts of 1 relations", "names", "types"]


def test_gzipped_pairs(tmp_path):
    for name, text in (("kg_nodes.tsv.gz", NODES), ("kg_edges.tsv.gz", EDGES)):
        (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    assert len(read(tmp_path).facts) == 1


def test_a_file_of_edges_without_nodes_is_a_plain_file(tmp_path):
    (tmp_path / "kg_edges.tsv").write_text("a\tin\tb\n")
    assert read(tmp_path / "kg_edges.tsv").vocabulary.relations == ("in",)


@pytest.mark.parametrize(
    ("nodes", "edges", "wrong"),
    [
        (NODES, EDGES.replace("predicate", "p"), r"kg_edges\.tsv:1: no column 'predicate'"),
        (NODES.replace("id", "key"), EDGES, r"kg_nodes\.tsv:1: no column 'id'"),
        (NODES, EDGES + "e2\tG:1\n", r"kg_edges\.tsv:3: expected 5 tab-separated columns, found 2"),
        (NODES, EDGES.replace("G:1", ""), r"kg_edges\.tsv:2: the subject is empty"),
        (NODES, EDGES.splitlines()[0] + "\n", r"kg_edges\.tsv: nothing but a header"),
    ],
)
def test_a_wrong_file_is_refused_by_its_line(nodes, edges, wrong, tmp_path):
    with pytest.raises(DataError, match=wrong):
        read(put(tmp_path, nodes, edges))


def test_two_pairs_in_a_folder_are_refused(tmp_path):
    put(put(tmp_path), stem="other_")
    with pytest.raises(DataError, match=r"kg_edges\.tsv: other_edges\.tsv lies beside it"):
        read(tmp_path)
