import pytest
import torch


@pytest.fixture(autouse=True)
def _one_thread():
    """Models this small only wait for a second thread, long where the machine is busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
