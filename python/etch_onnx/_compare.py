"""Measures of how far one array is from another."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclasses.dataclass
class Difference:
    """Sums over samples of pairs of arrays, from which the measures follow."""

    signal: float = 0.0
    noise: float = 0.0
    squares: float = 0.0
    product: float = 0.0
    largest: float = 0.0
    different: int = 0
    elements: int = 0

    def add(self, value: NDArray[Any], expected: NDArray[Any]) -> None:
        x = np.asarray(value, np.float64).ravel()
        y = np.asarray(expected, np.float64).ravel()
        error = x - y
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        error[same] = 0.0  # infinities of one sign
        self.signal += float(np.dot(y, y))
        self.noise += float(np.dot(error, error))
        self.squares += float(np.dot(x, x))
        self.product += float(np.dot(x, y))
        self.largest = max(self.largest, float(np.max(np.abs(error), initial=0.0)))
        self.different += int(np.count_nonzero(~same))
        self.elements += x.size

    @property
    def sqnr_db(self) -> float:
        """Signal to noise in decibel: infinite where nothing differs."""
        if self.noise == 0.0:
            return math.inf
        return 10.0 * math.log10(self.signal / self.noise) if self.signal > 0.0 else -math.inf

    @property
    def cosine(self) -> float:
        """1 where both point in one direction, or both are 0."""
        length = math.sqrt(self.signal * self.squares)
        if length == 0.0:
            return 1.0 if self.signal == self.squares else 0.0
        return self.product / length


def finite(value: float) -> float | None:
    """For JSON, which has no infinities."""
    return value if math.isfinite(value) else None


def decibel(value: float) -> str:
    return f"{value:.1f} dB" if math.isfinite(value) else "exact" if value > 0 else "no signal"
