"""The shipped world graph is what the documents say, and what its builder builds."""

import gzip
import hashlib
import os
import subprocess
import sys
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest

from assent.datasets import CATALOGUE
from assent.errors import DataError
from world import sources
from world.cities import distance_km, find_capitals, find_largest, near_pairs
from world.graph import WorldGraph
from world.names import plain, slug
from world.public_holidays import choose_labels, clean_name
from world.sources import City

WORLD = CATALOGUE["world"].built_in
FILES = (
    "NOTICE",
    "entity_names.tsv.gz",
    "entity_types.tsv.gz",
    "relation_names.tsv",
    "schema.tsv",
    "train.tsv.gz",
)


def content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def rows(name: str) -> list[tuple[str, ...]]:
    lines = content(WORLD / name).decode("utf-8").split("\n")
    assert lines.pop() == "", f"{name} ends with a newline"
    return [tuple(line.split("\t")) for line in lines]


@pytest.fixture(scope="module")
def facts() -> list[tuple[str, ...]]:
    return rows("train.tsv.gz")


@pytest.fixture(scope="module")
def entities(facts: list[tuple[str, ...]]) -> set[str]:
    return {entity for head, _, tail in facts for entity in (head, tail)}


# The shipped folder


def test_facts_are_the_documented_ones(facts):
    assert len(facts) == 14_411
    assert facts == sorted(set(facts))
    digest = hashlib.sha256(content(WORLD / "train.tsv.gz")).hexdigest()
    assert digest == "b12acc03c5a7e97df2cdcb6b937a010146302b06fb74a0c5e4c1111fc8e37967"


def test_entities_and_relations_have_the_documented_numbers(facts, entities):
    assert len({relation for _, relation, _ in facts}) == 30
    assert len(entities) == 2_618
    sizes = Counter(kind for _, kind in rows("entity_types.tsv.gz"))
    assert len(sizes) == 16
    assert (sizes["country"], sizes["city"], sizes["language"]) == (250, 880, 393)


def test_keys_name_the_type():
    assert all(entity.startswith(f"{kind}:") for entity, kind in rows("entity_types.tsv.gz"))


@pytest.mark.parametrize("name", ["entity_names.tsv.gz", "entity_types.tsv.gz"])
def test_every_entity_has_exactly_one_row(name, entities):
    assert [row[0] for row in rows(name)] == sorted(entities)


@pytest.mark.parametrize("name", ["entity_names.tsv.gz", "relation_names.tsv"])
def test_names_are_one_line_of_text(name):
    for row in rows(name):
        assert len(row) == 2
        label = row[1]
        assert label and label == label.strip() and label.isprintable()


def test_every_relation_has_a_name_of_its_own(facts):
    names = dict(rows("relation_names.tsv"))
    assert sorted(names) == sorted({relation for _, relation, _ in facts})
    assert len(set(names.values())) == len(names)


def test_every_fact_obeys_domain_and_range(facts):
    schema = {(relation, side): kind for relation, side, kind in rows("schema.tsv")}
    assert len(schema) == len(rows("schema.tsv")) == 2 * 30
    types = dict(rows("entity_types.tsv.gz"))
    for head, relation, tail in facts:
        assert types[head] == schema[relation, "domain"]
        assert types[tail] == schema[relation, "range"]


@pytest.mark.parametrize("symmetric", ["borders", "near_city"])
def test_symmetric_relations_hold_both_ways_and_never_with_oneself(symmetric, facts):
    pairs = {(head, tail) for head, relation, tail in facts if relation == symmetric}
    assert pairs == {(tail, head) for head, tail in pairs}
    assert all(head != tail for head, tail in pairs)


@pytest.mark.parametrize(
    "fact",
    [
        ("Brazil", "capital", "Brasília"),
        ("Brazil", "largest_city", "São Paulo"),
        ("Switzerland", "borders", "Austria"),
        ("Japan", "currency", "Japanese Yen"),
        ("Germany", "former_currency", "German Mark"),
        ("Germany", "member_of", "European Union"),
        ("Serbian", "written_in_script", "Cyrillic"),
        ("Nairobi", "city_in_country", "Kenya"),
        ("Kolkata time zone", "january_offset", "UTC+05:30"),
        ("London time zone", "july_offset", "UTC+01:00"),
        ("Southeast Asia", "region_in_continent", "Asia"),
        ("France", "observes_holiday", "Christmas Day"),
        ("United States", "week_starts_on", "Sunday"),
    ],
)
def test_facts_that_anyone_can_check(fact, facts):
    names = dict(rows("entity_names.tsv.gz"))
    assert fact in {(names[head], relation, names[tail]) for head, relation, tail in facts}


def test_largest_city_is_the_largest_listed_one(facts):
    """A known limit: Zürich is larger than Bern, but too small for this graph."""
    names = dict(rows("entity_names.tsv.gz"))
    largest = {head: names[tail] for head, relation, tail in facts if relation == "largest_city"}
    assert largest["country:CH"] == "Bern"
    assert "Zürich" not in names.values()


def test_files_are_small_and_without_traces_of_their_making():
    assert tuple(sorted(path.name for path in WORLD.iterdir())) == FILES
    for name in FILES:
        data = (WORLD / name).read_bytes()
        assert len(data) < 300_000
        assert b"\r" not in content(WORLD / name)
        if name.endswith(".gz"):
            assert data[3] == 0, "no file name"
            assert data[4:8] == bytes(4), "no time"


def test_notice_names_every_source_with_its_version():
    text = (WORLD / "NOTICE").read_text(encoding="utf-8")
    for package, version in sources.PINNED.items():
        assert f"{package} {version}" in text
    for licence in ("licenses/by/4.0", "UNICODE LICENSE V3", "MIT", "CC0", "public domain"):
        assert licence in text


# Rebuilding


def require_pinned_sources() -> None:
    for package, version in sources.PINNED.items():
        module = package.lower().replace("-", "_")
        pytest.importorskip(module, reason=f"rebuilding the world graph needs {package} {version}")
        found = metadata.version(package)
        if found != version:
            pytest.skip(f"the shipped graph was made with {package} {version}, found {found}")


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_rebuilding_gives_the_shipped_files(hash_seed, tmp_path):
    require_pinned_sources()
    search_path = os.pathsep.join(path for path in sys.path if path)
    subprocess.run(
        [sys.executable, "-m", "world", "--out", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": search_path, "PYTHONHASHSEED": hash_seed},
        check=True,
    )
    assert tuple(sorted(path.name for path in tmp_path.iterdir())) == FILES
    for name in FILES:
        assert content(tmp_path / name) == content(WORLD / name), name


def test_a_missing_source_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "holidays", None)  # what Python takes for "not there"
    with pytest.raises(DataError, match=r"pip install 'assent-kb\[world\]'"):
        sources.holiday_countries()


# Small pieces


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("Christmas Day", "Christmas Day"),
        ("Christmas Day (observed)", "Christmas Day"),
        ("Eid al-Fitr (estimated)", "Eid al-Fitr"),
        ("Eid al-Fitr (observed, estimated)", "Eid al-Fitr"),
        ("New Year's Day (in lieu)", "New Year's Day"),
        ("Chinese New Year (Spring Festival)", "Chinese New Year (Spring Festival)"),
        ("Day off (substituted from 01/05/2025)", ""),
        ("Day off for Carnival Day", ""),
        ("Bridge Public Holiday", ""),
    ],
)
def test_holiday_names_lose_remarks_and_stand_ins(raw, clean):
    assert clean_name(raw) == clean


def test_spellings_with_one_slug_share_the_label_most_countries_use():
    observers = {"National Heroes' Day": {"AO", "BS"}, "National Heroes Day": {"KY", "PH", "UG"}}
    assert choose_labels(observers) == {"national_heroes_day": "National Heroes Day"}


def test_names_become_plain_and_keys():
    assert plain(" Brasília") == "brasilia"
    assert slug("New Year's Day") == "new_year_s_day"
    assert slug("Día de la Raza!") == "dia_de_la_raza"


def city(
    name: str,
    latitude: float = 0.0,
    longitude: float = 0.0,
    *,
    population: int = 1,
    other_names: tuple[str, ...] = (),
) -> City:
    return City(name, name, other_names, "XX", "Etc/UTC", population, latitude, longitude)


LONDON = city("London", 51.5074, -0.1278)
PARIS = city("Paris", 48.8566, 2.3522)
NEW_YORK = city("New York", 40.7128, -74.0060)
ZURICH = city("Zürich", 47.3769, 8.5417)
BERN = city("Bern", 46.9480, 7.4474)


@pytest.mark.parametrize(
    ("one", "other", "kilometres"),
    [(LONDON, PARIS, 344), (PARIS, NEW_YORK, 5837), (ZURICH, BERN, 95), (BERN, BERN, 0)],
)
def test_distances_of_known_cities(one, other, kilometres):
    assert distance_km(one, other) == pytest.approx(kilometres, abs=1)
    assert distance_km(one, other) == pytest.approx(distance_km(other, one))


def test_distance_does_not_stop_at_the_date_line():
    west, east = city("West", 0.0, 179.5), city("East", 0.0, -179.5)
    assert distance_km(west, east) == pytest.approx(111.2, abs=0.1)


def test_near_pairs_come_once():
    assert list(near_pairs([ZURICH, BERN, PARIS, LONDON], 100.0)) == [(BERN, ZURICH)]
    assert list(near_pairs([], 100.0)) == []


def test_capital_is_found_without_its_accents():
    brasilia, other = city("Brasília"), city("São Paulo", population=9)
    assert find_capitals([other, brasilia], {"XX": "Brasilia"}) == {"XX": brasilia}


def test_capital_is_found_by_another_name_unless_a_city_bears_the_name_itself():
    astana = city("Astana", other_names=("Nur-Sultan",), population=9)
    assert find_capitals([astana], {"XX": "Nur-Sultan"}) == {"XX": astana}
    namesake = city("Nur-Sultan")
    assert find_capitals([astana, namesake], {"XX": "Nur-Sultan"}) == {"XX": namesake}


def test_larger_of_two_cities_of_the_name_is_the_capital():
    small, large = city("Victoria", population=1), city("Victoria", population=2)
    assert find_capitals([small, large, small], {"XX": "Victoria"}) == {"XX": large}


def test_countries_without_a_capital_get_none():
    assert find_capitals([BERN], {"XX": ""}) == {}
    assert find_capitals([BERN], {"YY": "Bern"}) == {}


def test_first_of_equally_large_cities_is_the_largest():
    assert find_largest([BERN, ZURICH]) == {"XX": BERN}


def test_graph_holds_a_fact_once_and_lists_only_entities_with_facts():
    graph = WorldGraph()
    brazil = graph.entity("country", "BR", "Brazil")
    peru = graph.entity("country", "PE", "Peru")
    graph.entity("country", "IS", "Iceland")
    graph.add(brazil, "borders", peru)
    graph.add(brazil, "borders", peru)
    assert graph.facts() == [("country:BR", "borders", "country:PE")]
    assert graph.labels() == [("country:BR", "Brazil"), ("country:PE", "Peru")]
    assert graph.types() == [("country:BR", "country"), ("country:PE", "country")]


def test_graph_refuses_ends_of_the_wrong_type():
    graph = WorldGraph()
    brazil = graph.entity("country", "BR", "Brazil")
    with pytest.raises(DataError, match="capital: expected a city, found 'country:BR'"):
        graph.add(brazil, "capital", brazil)
    with pytest.raises(DataError, match="unknown entity"):
        graph.add(brazil, "borders", "country:ZZ")


@pytest.mark.parametrize("label", ["Bra\tzil", "Bra\nzil", " "])
def test_graph_refuses_labels_that_break_a_table(label):
    with pytest.raises(DataError, match="one line of text"):
        WorldGraph().entity("country", "BR", label)


def test_graph_refuses_a_second_label():
    graph = WorldGraph()
    graph.entity("country", "BR", "Brazil")
    with pytest.raises(DataError, match="two labels"):
        graph.entity("country", "BR", "Brasil")
