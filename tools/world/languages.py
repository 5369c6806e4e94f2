"""Languages: where they are spoken, how they are written, how they count."""

from world import sources
from world.graph import WorldGraph
from world.places import Countries

Languages = dict[str, str]  # language code -> entity


def add_languages(
    graph: WorldGraph, countries: Countries, *, widely: float = 5.0, at_least: float = 0.5
) -> None:
    """`widely` and `at_least` are the percentages of speakers from which a language counts as
    widely spoken, and as a minority's."""
    languages = _add_speakers(graph, countries, widely, at_least)
    _add_scripts(graph, languages)
    _add_main_countries(graph, languages, countries)
    _add_locales(graph, languages, countries)
    _add_plurals(graph, languages)
    _add_macrolanguages(graph, languages)


def _add_speakers(
    graph: WorldGraph, countries: Countries, widely: float, at_least: float
) -> Languages:
    """The languages that got a fact; only these are described further."""
    names = sources.english_names("languages")
    languages: Languages = {}
    for code, country in countries.items():
        for use in sources.language_uses(code):
            relations = _ways_of_speaking(use, widely, at_least)
            if use.language not in names or not relations:
                continue
            language = graph.entity("language", use.language, names[use.language])
            languages[use.language] = language
            for relation in relations:
                graph.add(country, relation, language)
    return languages


def _ways_of_speaking(use: sources.LanguageUse, widely: float, at_least: float) -> list[str]:
    relations = []
    if use.status in STATUSES:
        relations.append(STATUSES[use.status])
    if use.percent >= widely:
        relations.append("widely_spoken_language")
    elif use.status is None and use.percent >= at_least:
        relations.append("minority_language")
    return relations


def _add_scripts(graph: WorldGraph, languages: Languages) -> None:
    names = {**sources.english_names("scripts"), **FULL_SCRIPT_NAMES}
    for row in sources.cldr_section("languageData"):
        code = row.attrib["type"]
        if code not in languages or row.get("alt") == "secondary":
            continue
        for script in row.get("scripts", "").split():
            if script in names:
                entity = graph.entity("script", script, names[script])
                graph.add(languages[code], "written_in_script", entity)


def _add_main_countries(graph: WorldGraph, languages: Languages, countries: Countries) -> None:
    likely = sources.likely_subtags()
    for code, language in languages.items():
        country = likely.get(code, "").split("_")[-1]
        if country in countries:
            graph.add(language, "main_country", countries[country])


def _add_locales(graph: WorldGraph, languages: Languages, countries: Countries) -> None:
    for locale in sources.locale_codes():
        code, *others = locale.split("_")
        # The country stands last, but for variants ("en_US_POSIX"), which repeat a locale.
        if code in languages and others and others[-1] in countries:
            graph.add(languages[code], "has_locale_for", countries[others[-1]])


def _add_plurals(graph: WorldGraph, languages: Languages) -> None:
    for code, language in languages.items():
        for category in sources.plural_categories(code):
            plural = graph.entity("plural", category, f'plural form "{category}"')
            graph.add(language, "plural_category", plural)


def _add_macrolanguages(graph: WorldGraph, languages: Languages) -> None:
    for part, whole in sources.macrolanguages().items():
        if part in languages and whole in languages:
            graph.add(languages[part], "macrolanguage", languages[whole])


STATUSES = {
    "official": "official_language",
    "de_facto_official": "official_language",
    "official_regional": "regional_language",
}

# CLDR shortens these for use within a language's name, as in "Chinese (Simplified)".
FULL_SCRIPT_NAMES = {
    "Hans": "Simplified Han",
    "Hant": "Traditional Han",
    "Rohg": "Hanifi Rohingya",
}
