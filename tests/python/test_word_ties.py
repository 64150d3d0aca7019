"""The checker of evidence finds the ties of 16-bit results: against every sum, in exact fractions."""

import pathlib
import random
import sys
from fractions import Fraction
from types import SimpleNamespace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

from check_evidence.words import has_tie  # noqa: E402


def by_every_sum(channel, zero_point, low, high):
    half = Fraction(1, 2)
    for total in range(-3000, 3001):
        y = Fraction(total * channel.factor + (channel.rest << 31), 1 << channel.exponent) + zero_point
        if (y - half).denominator == 1 and low - half <= y <= high + half:
            return True
    return False


def test_ties_are_those_of_every_sum():
    dice, found = random.Random(1), [0, 0]
    for _ in range(80):
        exponent = dice.randint(1, 14)
        # So that sums beyond 3,000 are beyond the limits.
        factor = dice.randint(1 + (1 << exponent) // 40, 1 + (1 << exponent) // 10)
        channel = SimpleNamespace(factor=factor, exponent=exponent, rest=0)
        zero_point, low, high = dice.randint(-5, 5), dice.randint(-60, 0), dice.randint(0, 60)
        real = by_every_sum(channel, zero_point, low, high)
        assert has_tie(channel, SimpleNamespace(y_zero_point=zero_point, clamp=[low, high])) == real, (channel, zero_point, low, high)
        found[real] += 1
    assert min(found) > 5, found


def test_rests_move_ties():
    step = SimpleNamespace(y_zero_point=0, clamp=[-100, 100])
    # 3 * sum / 2^33 + rest / 4: with a rest of 2 a sum of 0 is a half.
    assert has_tie(SimpleNamespace(factor=3, exponent=33, rest=2), step)
    assert not has_tie(SimpleNamespace(factor=3 << 32, exponent=33, rest=1), step)
