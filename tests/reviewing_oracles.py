"""Slow, obvious twins of what reviewing computes fast, with exact fractions."""

from fractions import Fraction
from itertools import permutations
from math import comb


def likelihood(size, number, drawn, right):
    """The probability of so many right ones in a sample, if `number` of the set are right."""
    ways = comb(number, right) * comb(size - number, drawn - right)
    return Fraction(ways, comb(size, drawn))


def fewest_right(size, drawn, right, hoped, failure):
    """The smallest number that is not refuted, by trying all."""
    hoped = min(max(hoped, 0), size)
    numbers = range(hoped, size + 1)
    mixture = sum(likelihood(size, number, drawn, right) for number in numbers) / len(numbers)
    for number in range(right, size - (drawn - right) + 1):
        if mixture * Fraction(failure) ** -1 == 0:
            return number
        if mixture < likelihood(size, number, drawn, right) / Fraction(failure):
            return number
    raise AssertionError("some number is always possible")


def share_of_orders(labels, fails):
    """The share of all orders in which the labels can be drawn for which `fails(order)`."""
    orders = list(permutations(labels))
    return Fraction(sum(fails(order) for order in orders), len(orders))


def leading(numbers, members, labels):
    """The labels of a set in the order of its numbers, up to the first that has none."""
    found = []
    for place in sorted(members, key=lambda place: numbers[place]):
        if labels.get(place) is None:
            break
        found.append(labels[place])
    return found
