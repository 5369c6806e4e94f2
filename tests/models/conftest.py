import pytest


@pytest.fixture(autouse=True)
def _alone(one_thread):
    """Every test here computes in one thread."""
