"""Short lists that fall: a value is entered where it belongs, and the lowest is lost."""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from numba import njit


@njit(nogil=True, cache=True)
def enter(values, value):
    """Enters a value into a list that falls. Returns its place, or -1 where it is too low.

    Of equal values the earlier one stays first.
    """
    place = len(values)
    while place > 0 and value > values[place - 1]:
        place -= 1
    if place == len(values):
        return -1
    make_room(values, place)
    values[place] = value
    return place


@njit(nogil=True, cache=True)
def make_room(values, place):
    """Moves what stands at this place and after it on by one."""
    for k in range(len(values) - 1, place, -1):
        values[k] = values[k - 1]
