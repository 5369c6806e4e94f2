"""What the paper prints (Speranskaya, Schmitt & Roth, 2020): its models, numbers and samples."""

from dataclasses import dataclass

SETTINGS = ("global", "multiple")  # one threshold for all relations, one for each
SETS = ("full", "C", "C+F", "I")  # in the order of Tables 2 and 4

Numbers = tuple[float, ...]

# The models that the paper trains, and the tables that have a row or a column for each.
MODELS = {
    "conve-128": ("2", "3"),
    "conve-64": ("2",),
    "complex-128": ("2", "3"),
    "complex-64": ("2",),
    "transe-128": ("2",),
    "transe-64": ("2", "4"),
    "distmult-64": ("2",),
    "distmult-128": ("2",),
    "region-64": ("4",),
    "region-sphere-64": ("4",),  # described in the text; no number of it is printed
}

# The family in which the paper places its Region, and our variant of it; it trains none of these.
KIN = ("transh-64", "transr-64", "transa-64", "transa-diagonal-64", "region-scaled-64")


def _rows(text: str, words: int = 1) -> dict[tuple[str, ...], Numbers]:
    """Lines of words and numbers, by the words."""
    rows = (line.split() for line in text.strip().splitlines())
    return {tuple(row[:words]): tuple(map(float, row[words:])) for row in rows if row}


# Tables 2 and 4, on test: MRR, then F1 of full, C, C+F, I with one threshold, then with many.
TABLE_2 = _rows("""
    conve-128     .321   .134 .272 .211 .105   .204 .317 .286 .150
    conve-64      .263   .157 .307 .261 .108   .189 .312 .280 .135
    complex-128   .293   .021 .169 .017 .042   .190 .296 .261 .143
    complex-64    .293   .009 .157 .005 .057   .181 .282 .245 .143
    transe-128    .293   .108 .158 .106 .108   .159 .172 .168 .154
    transe-64     .283   .111 .164 .112 .110   .161 .176 .175 .154
    distmult-64   .266   .159 .273 .226 .129   .184 .256 .239 .148
    distmult-128  .221   .133 .275 .188 .088   .163 .206 .194 .138
""")
TABLE_4 = _rows("""
    transe-64     .283   .111 .164 .112 .110   .161 .176 .175 .154
    region-64     .330   .146 .266 .207 .123   .220 .317 .311 .162
""")

# Appendix B.2: the one threshold; mean, least and greatest of the many.
TABLE_B_2 = _rows("""
    conve-128     .5   .81 .1 1
    conve-64      .5   .56 .1 1
    complex-128   .7   .63 .1 1
    complex-64    .5   .72 .1 1
    transe-128    .1   .26 .1 .9
    transe-64     .1   .23 .1 .9
    distmult-64   .4   .38 .1 1
    distmult-128  .3   .24 .1 1
    region-64     .2   .36 .1 1
""")

# Appendix C.1, test and valid by turns: MRR, F1 with one threshold, F1 with many.
TABLE_C_1 = _rows("""
    conve-128     .3212 .3279   .134 .135   .204 .218
    conve-64      .2633 .2717   .157 .155   .189 .215
    complex-128   .2931 .3009   .021 .022   .190 .200
    complex-64    .2931 .3007   .009 .010   .181 .188
    transe-128    .2931 .2988   .108 .103   .159 .160
    transe-64     .2834 .2902   .111 .106   .161 .159
    distmult-64   .2663 .2732   .159 .153   .184 .210
    distmult-128  .2214 .2310   .133 .146   .163 .189
""")

# Appendix C.2, test and valid by turns: C, C+F, I, full with one threshold, then with many.
SETS_C_2 = ("C", "C+F", "I", "full")
TABLE_C_2 = _rows(
    """
    conve-128    precision  .232 .228 .155 .160 .061 .063 .083 .084   .312 .317 .258 .269 .116 .129 .167 .176
    conve-128    recall     .329 .325 .329 .325 .370 .371 .351 .351   .322 .331 .322 .331 .211 .253 .261 .288
    conve-128    f1         .272 .268 .211 .214 .105 .107 .134 .135   .317 .317 .286 .297 .150 .171 .204 .218
    conve-64     precision  .399 .396 .274 .264 .076 .078 .123 .119   .370 .371 .291 .311 .107 .140 .165 .193
    conve-64     recall     .250 .245 .250 .245 .184 .203 .214 .222   .270 .276 .270 .276 .182 .219 .222 .244
    conve-64     f1         .307 .303 .261 .254 .108 .113 .157 .155   .312 .316 .280 .292 .135 .170 .189 .215
    complex-128  precision  .384 .370 .009 .010 .038 .034 .012 .013   .282 .284 .225 .242 .107 .113 .150 .154
    complex-128  recall     .108 .104 .108 .104 .048 .040 .075 .068   .311 .323 .311 .323 .215 .256 .259 .286
    complex-128  f1         .169 .163 .017 .019 .042 .037 .021 .022   .296 .302 .261 .277 .143 .157 .190 .200
    complex-64   precision  .202 .200 .002 .002 .037 .038 .005 .005   .298 .296 .227 .248 .105 .109 .143 .151
    complex-64   recall     .128 .126 .128 .126 .124 .128 .126 .127   .275 .267 .267 .275 .224 .227 .244 .249
    complex-64   f1         .157 .155 .005 .005 .057 .058 .009 .010   .282 .285 .245 .261 .143 .148 .181 .188
    transe-128   precision  .140 .146 .075 .087 .063 .057 .066 .064   .199 .200 .190 .193 .106 .114 .123 .132
    transe-128   recall     .181 .183 .181 .183 .407 .334 .304 .267   .151 .156 .151 .156 .282 .241 .222 .203
    transe-128   f1         .158 .162 .106 .118 .108 .098 .108 .103   .172 .175 .168 .172 .154 .154 .158 .160
    transe-64    precision  .143 .146 .079 .088 .063 .059 .067 .066   .195 .196 .194 .195 .106 .112 .124 .131
    transe-64    recall     .192 .191 .192 .191 .424 .340 .319 .274   .160 .159 .160 .159 .282 .235 .226 .201
    transe-64    f1         .164 .166 .112 .120 .110 .100 .111 .106   .176 .175 .175 .175 .154 .151 .160 .158
    distmult-64  precision  .362 .389 .233 .266 .089 .082 .121 .117   .254 .377 .222 .320 .116 .133 .153 .188
    distmult-64  recall     .219 .214 .219 .214 .238 .219 .229 .217   .258 .268 .258 .268 .204 .211 .229 .237
    distmult-64  f1         .273 .276 .226 .237 .129 .119 .159 .152   .256 .314 .239 .292 .148 .163 .184 .208
    distmult-128 precision  .317 .410 .165 .263 .076 .075 .116 .140   .181 .376 .163 .302 .113 .129 .135 .195
    distmult-128 recall     .218 .223 .218 .223 .105 .095 .156 .152   .239 .246 .239 .246 .179 .134 .206 .184
    distmult-128 f1         .275 .289 .188 .242 .088 .083 .133 .146   .206 .298 .194 .271 .138 .131 .163 .189
""",  # noqa: E501
    words=2,
)


@dataclass(frozen=True, slots=True)
class Sample:
    """A query of the paper's Table 3."""

    words: str  # as the paper writes it
    kind: str  # C, I or F
    side: str  # what it asks for
    anchor: str
    relation: str


SAMPLES = (
    Sample(
        "Thomas Lennon · has profession · ?", "I", "tail", "/m/06pcz0", "/people/person/profession"
    ),
    Sample(
        "Marion County · in time zones · ?",
        "C",
        "tail",
        "/m/0mx48",
        "/location/location/time_zones",
    ),
    Sample(
        "? · has currency · Meryl Streep",
        "F",
        "head",
        "/m/0h0wc",
        "/location/statistical_region/gni_per_capita_in_ppp_dollars."
        "/measurement_unit/dated_money_value/currency",
    ),
)

# The benchmark has no readable names; these are the ones that the paper uses.
NAMES = {
    **{"/m/02hrh1q": "actor", "/m/0dxtg": "screenwriter", "/m/01d_h8": "film producer"},
    **{"/m/03gjzk": "tv producer", "/m/02jknp": "film director", "/m/018gz8": "comedian"},
    **{"/m/09jwl": "musician", "/m/0cbd2": "writer", "/m/0kyk": "author", "/m/0n1h": "artist"},
    **{"/m/02lcqs": "Pacific", "/m/02hcv8": "Eastern", "/m/02hczc": "Mountain"},
    **{"/m/02fqwt": "Central", "/m/03plfd": "Eastern European", "/m/052vwh": "time in China"},
    **{"/m/0gsrz4": "East Africa", "/m/09nqf": "US dollar", "/m/02l6h": "euro"},
    **{"/m/01nv4h": "pound sterling", "/m/09c7w0": "USA", "/m/07ssc": "UK", "/m/0f8l9c": "France"},
    **{"/m/03rt9": "Ireland", "/m/06mkj": "Spain", "/m/0d060g": "Canada", "/m/03rjj": "Italy"},
    **{"/m/0ctw_b": "New Zealand", "/m/0k6nt": "Denmark", "/m/0d0vqn": "Sweden"},
}


def models_in(table: str) -> list[str]:
    """The models of one of the paper's tables, in its order."""
    return [name for name, tables in MODELS.items() if table in tables]


# Models by one word, for `--models`.
ORDERS = {"paper": tuple(MODELS), "kin": (*models_in("4"), *KIN)}


def mrr(name: str) -> float | None:
    """On test."""
    row = {**TABLE_2, **TABLE_4}.get((name,))
    return row[0] if row else None


def f1(name: str, setting: str, of_set: str) -> float | None:
    """On test, by Tables 2 and 4."""
    row = {**TABLE_2, **TABLE_4}.get((name,))
    return row[1 + 4 * SETTINGS.index(setting) + SETS.index(of_set)] if row else None


def thresholds(name: str) -> Numbers | None:
    """The one threshold; mean, least and greatest of the many."""
    return TABLE_B_2.get((name,))


def overall(name: str, column: int) -> Numbers | None:
    """Test and valid of Appendix C.1: MRR, F1 with one threshold, F1 with many."""
    row = TABLE_C_1.get((name,))
    return row[2 * column : 2 * column + 2] if row else None


def detail(name: str, metric: str, setting: str, of_set: str) -> Numbers | None:
    """Test and valid of Appendix C.2."""
    row = TABLE_C_2.get((name, metric))
    first = 8 * SETTINGS.index(setting) + 2 * SETS_C_2.index(of_set)
    return row[first : first + 2] if row else None
