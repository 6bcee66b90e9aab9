"""What a map that learns by itself does, and what it was worth."""

from __future__ import annotations

from dataclasses import dataclass

from veridical.results.base import Result


@dataclass(frozen=True, kw_only=True, repr=False)
class OnlineStatus(Result):
    """What a map that learns from every outcome does today, and what it was worth so far.

    Attributes
    ----------
    since : when it began to learn: timestamp or number of a batch
    n_rows : rows it has learnt from
    given : predictions; of two classes of the positive one, of more classes of any one while the
        others share the rest equally
    low, high : what becomes of each; they differ where classes do
    event : what the predictions are of, in words
    gain : nats saved against predictions as they come, measured by what was said before outcomes
        were known; negative: it has cost so much
    most_cost : nats that it can have cost at most; None where no bound holds, since outcomes came
        in batches or late
    leading : which of its maps has the largest weight, in words
    leading_weight : that weight
    leading_since : since when
    verdict : the same in one sentence
    """

    since: str
    n_rows: int
    given: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    event: str
    gain: float
    most_cost: float | None
    leading: str
    leading_weight: float
    leading_since: str
    verdict: str

    def _text(self) -> str:
        return self.verdict
