"""Random numbers as R draws them, so that a draw printed from R can be made again.

R's defaults since version 3.6: Mersenne Twister, normal numbers by inversion, permutations by
rejection (``RNGkind()``: "Mersenne-Twister", "Inversion", "Rejection").
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from veridical._core.typing import FloatArray, IntArray

_WORDS = 624
_SCRAMBLE = 50  # rounds R turns a seed before it uses it
_TO_UNIT = 2.3283064365386963e-10  # 2^-32, as R writes it
_SMALLEST = 0.5 * 2.328306437080797e-10  # R keeps numbers this far away from 0 and 1
_NORMAL_STEPS = 134_217_728  # 2^27: the first of two numbers gives 27 bits, the second the rest


class RStream:
    """Stream of R's random numbers after ``set.seed(seed)``.

    Examples
    --------
    In R, ``set.seed(42); rnorm(3)`` and ``set.seed(42); sample(10)`` give

    >>> RStream(42).normal(3).round(7)
    array([ 1.3709584, -0.5646982,  0.3631284])
    >>> 1 + RStream(42).permutation(10)
    array([ 1,  5, 10,  8,  2,  4,  6,  9,  7,  3])
    """

    def __init__(self, seed: int) -> None:
        for _ in range(_SCRAMBLE):
            seed = _congruential(seed)
        words = []
        for _ in range(_WORDS + 1):
            seed = _congruential(seed)
            words.append(seed)
        self._bits = np.random.MT19937()
        # The first word is R's place for the position, which it sets to the end.
        key = {"key": np.array(words[1:], dtype=np.uint32), "pos": _WORDS}
        self._bits.state = cast("Any", {"bit_generator": "MT19937", "state": key})

    def uniform(self, size: int) -> FloatArray:
        """``runif(size)``."""
        drawn = self._bits.random_raw(size) * _TO_UNIT
        return np.clip(drawn, _SMALLEST, 1 - _SMALLEST)

    def normal(self, size: int) -> FloatArray:
        """``rnorm(size)``."""
        from scipy.special import ndtri

        coarse, fine = self.uniform(2 * size).reshape(size, 2).T
        found: FloatArray = ndtri((np.floor(_NORMAL_STEPS * coarse) + fine) / _NORMAL_STEPS)
        return found

    def bernoulli(self, p: FloatArray) -> IntArray:
        """``rbinom(length(p), 1, p)``: R draws the rarer outcome by inversion."""
        rarer = self.uniform(len(p)) >= 1 - np.minimum(p, 1 - p)
        return np.where(p > 0.5, ~rarer, rarer).astype(np.int64)

    def permutation(self, size: int) -> IntArray:
        """``sample(size)``, counted from 0."""
        left, found = list(range(size)), []
        for count in range(size, 0, -1):
            at = self._below(count)
            found.append(left[at])
            left[at] = left[count - 1]
        return np.array(found)

    def _below(self, count: int) -> int:
        """Whole number below `count`: as many bits as it needs, until they are below it."""
        bits = math.ceil(math.log2(count))
        while True:
            drawn = 0
            for _ in range(0, bits + 1, 16):
                drawn = 65_536 * drawn + int(65_536 * self.uniform(1)[0])
            drawn &= (1 << bits) - 1
            if drawn < count:
                return drawn


def _congruential(word: int) -> int:
    return (69_069 * word + 1) % 2**32
