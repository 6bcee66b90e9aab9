"""What the bets found, in the words the library uses for miscalibration."""

from __future__ import annotations

import re
from dataclasses import dataclass

_BINARY = {
    "predictions too extreme": "over-confident (predictions too extreme)",
    "predictions not extreme enough": "under-confident (predictions not extreme enough)",
    "outcomes more frequent than predicted": "predictions too low",
    "outcomes less frequent than predicted": "predictions too high",
}
# Of three or more classes the prediction is the confidence, and the outcome that it was right.
_CONFIDENCE = {
    "predictions too extreme": "differences between confidences too large",
    "predictions not extreme enough": "differences between confidences too small",
    "outcomes more frequent than predicted": "under-confident (confidence below accuracy)",
    "outcomes less frequent than predicted": "over-confident (confidence above accuracy)",
}
_WHERE = re.compile(r" where predictions are (between .*)$")


@dataclass(frozen=True)
class Directions:
    """Translates what `Evidence.direction` says.

    Over-confident means too extreme, a recalibration slope below 1, as everywhere in the library;
    of three or more classes, that the confidence is above the accuracy.

    Attributes
    ----------
    of_confidence : whether rows are seen through their confidence, because of many classes

    Examples
    --------
    >>> says = Directions(of_confidence=False)
    >>> says.of("all", "outcomes less frequent than predicted and predictions too extreme")
    'over-confident (predictions too extreme) and predictions too high'
    >>> more = "outcomes more frequent than predicted"
    >>> says.of("group", f"{more} where predictions are between 0.2 and 0.5")
    'predictions too low between 0.2 and 0.5'
    >>> Directions(of_confidence=True).of("group", more)
    'under-confident (confidence below accuracy)'
    """

    of_confidence: bool

    def of(self, family: str, direction: str) -> str:
        """Direction of a stream of this family; classes are always seen one against the rest."""
        words = _CONFIDENCE if self.of_confidence and family != "class" else _BINARY
        place = _WHERE.search(direction)
        said = [words[part] for part in _WHERE.sub("", direction).split(" and ")]
        # The spread of binary predictions, or the level of confidences, comes first.
        said.sort(key=lambda text: "-confident" not in text)
        return " and ".join(said) + (f" {place[1]}" if place else "")
