"""Named data sets: which there are, where they are, and how to get them."""

from assent.datasets.catalogue import CATALOGUE, Dataset, Derivation, RemoteFile
from assent.datasets.downloading import FetchSettings, Progress
from assent.datasets.fetching import Status, cache_folder, fetch, located, status

__all__ = [
    "CATALOGUE",
    "Dataset",
    "Derivation",
    "FetchSettings",
    "Progress",
    "RemoteFile",
    "Status",
    "cache_folder",
    "fetch",
    "located",
    "status",
]
