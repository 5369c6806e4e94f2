"""How much memory there is."""

import resource

from assent.core.memory import memory


def test_a_process_that_is_held_to_less_has_less(monkeypatch):
    whole = memory()
    assert whole > 1 << 28
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1 << 20, resource.RLIM_INFINITY))
    assert memory() == 1 << 20
