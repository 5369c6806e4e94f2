"""Croissant: what a benchmark is and which files it has, as data catalogues read it (JSON-LD)."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assent.core.version import __version__
from assent.files.checksums import digest, files_in

CROISSANT = "croissant.json"
CONFORMS = "http://mlcommons.org/croissant/1.0"
FORMATS = {".tsv": "text/tab-separated-values", ".txt": "text/plain", ".csv": "text/csv"}
JSON = "application/json"
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def write_croissant(folder: Path, origin: Mapping[str, Any]) -> None:
    """Writes `croissant.json` about all files that a new benchmark folder holds.

    The files have no header, so that no columns are described: `docs/formats.md` does that.
    """
    source = origin.get("source")
    made_from = str(source.get("name", "")) if isinstance(source, dict) else ""
    document = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": "-".join(["benchmark", *re.findall(r"\w+", made_from)]),
        "description": "A benchmark for knowledge-base completion: facts to learn from, and "
        "queries with all, some, or none of their answers."
        + (f" Built from {made_from}." if made_from else ""),
        "version": "1.0.0",
        "creator": {"@type": "Organization", "name": f"assent {__version__}"},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path.name,
                "name": path.name,
                "contentUrl": path.name,
                "contentSize": f"{path.stat().st_size} B",
                "encodingFormat": FORMATS.get(path.suffix, JSON),
                "sha256": digest(path),
            }
            for path in files_in(folder)
        ],
    }
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    (folder / CROISSANT).write_text(text, encoding="utf-8", newline="\n")
