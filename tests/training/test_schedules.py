"""Learning rates."""

import pytest

from assent.training.schedules import END, PLATEAU, SCHEDULES, START, WARM_UP, one_cycle, plateau


def test_one_cycle_rises_to_the_highest_rate_and_falls_to_next_to_nothing():
    assert one_cycle(0, []) == pytest.approx(START)
    assert one_cycle(WARM_UP, []) == pytest.approx(1)
    assert one_cycle(1, []) == pytest.approx(END)
    rates = [one_cycle(done / 100, []) for done in range(101)]
    top = rates.index(max(rates))
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)


def test_plateau_halves_the_rate_each_time_nothing_became_better():
    better = [0.1, 0.2, 0.3]
    assert plateau(0.5, better) == 1
    assert plateau(0.5, better + [0.3] * PLATEAU) == 0.5
    assert plateau(0.5, better + [0.3] * 2 * PLATEAU) == 0.25
    assert plateau(0.5, [*better, *[0.3] * (PLATEAU - 1), 0.4]) == 1


@pytest.mark.parametrize("name", SCHEDULES)
def test_no_schedule_leaves_the_range_from_nothing_to_the_highest_rate(name):
    for done in range(101):
        assert 0 < SCHEDULES[name](done / 100, [0.1] * (done // 10)) <= 1
