"""A signal is noted once and ends the work at its next step; a second one ends it at once."""

import os
import signal

import pytest

from assent.errors import StoppedError
from assent.training.interrupts import SIGNALS, Interrupts


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_waits_for_the_end_of_the_step(number):
    before = signal.getsignal(number)
    with Interrupts() as interrupts:
        assert interrupts.wanted is None
        os.kill(os.getpid(), number)
        assert interrupts.wanted == number
        with pytest.raises(StoppedError, match="the same command goes on from here") as stopped:
            interrupts.leave()
        assert stopped.value.signal == number
    assert signal.getsignal(number) == before


def test_a_second_signal_does_not_wait():
    with Interrupts():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
