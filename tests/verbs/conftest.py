"""A benchmark and two trained runs, to be moved or damaged."""

import shutil

import pytest
import torch

from trained_runs import trained_pair


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    before = torch.get_num_threads()
    trained_pair(folder)
    torch.set_num_threads(before)
    return folder


@pytest.fixture
def place(trained, tmp_path):
    """A copy of them."""
    shutil.copytree(trained, tmp_path / "place")
    return tmp_path / "place"
