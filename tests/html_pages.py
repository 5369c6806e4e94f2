"""A page as tests read it: its tables, its scripts, and the text of its elements."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Tables by id: rows of cells, each a text and the number behind it, if any."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[tuple[str, float | None]]]] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.measures: list[tuple[str, float]] = []
        self.text = ""
        self._table: str | None = None
        self._cell = self._script = self._small = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        if tag == "table":
            self._table = given["id"]
            self.tables[self._table] = []
        elif tag == "tr" and self._table:
            self.tables[self._table].append([])
        elif tag in ("td", "th") and self._table:
            value = given.get("data-value")
            self.tables[self._table][-1].append(("", None if value is None else float(value)))
            self._cell = True
        elif tag == "script":
            self._script = True
            self.scripts.append("")
        elif tag == "small":
            self._small = True
        elif tag == "dd" and "data-value" in given:
            self.measures.append((given["data-measure"], float(given["data-value"])))

    def handle_endtag(self, tag):
        if tag == "table":
            self._table = None
        elif tag in ("td", "th"):
            self._cell = False
        elif tag == "script":
            self._script = False
        elif tag == "small":
            self._small = False

    def handle_data(self, data):
        if self._script:
            self.scripts[-1] += data
        elif self._cell and self._table and not self._small:
            row = self.tables[self._table][-1]
            row[-1] = (row[-1][0] + data, row[-1][1])
        self.text += "" if self._script else data
