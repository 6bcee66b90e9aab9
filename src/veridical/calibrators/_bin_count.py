"""How many bins a map is made of."""

from __future__ import annotations

from typing import Any

from veridical._core.validation import is_integer
from veridical.exceptions import invalid


def check_bins(caller: str, n_bins: Any) -> None:
    """Raise unless `n_bins` is a number of bins or a root of the sample size."""
    if (isinstance(n_bins, str) and n_bins in ("sqrt", "cbrt")) or (
        is_integer(n_bins) and 1 <= n_bins <= 1_000_000
    ):
        return
    hint = "10 is usual; fewer bins are surer of their frequencies, more follow the curve closer."
    expected = 'a positive integer up to a million, "sqrt" or "cbrt"'
    raise invalid(caller, "n_bins", expected, repr(n_bins), hint=hint)
