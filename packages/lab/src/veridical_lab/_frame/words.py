"""What the words of the sources mean as numbers: one table, for every verdict and every page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Meaning:
    """One line of the table.

    Attributes
    ----------
    words : of the sources, that mean the same here
    of : the kind of number they are said of
    sign, bound : what the number must be
    """

    words: tuple[str, ...]
    of: str
    sign: str
    bound: float


_REMOVED = "share of an error that is removed, or that comes from one part"
_SIZE = "an error, gap or distance between probabilities"
_CASES = "share of cases: rows, bins, sizes, settings, fits or draws"
_RATIO = "one number divided by another"

MEANINGS = (
    Meaning(("improves",), _REMOVED, ">", 0.0),
    Meaning(("minor", "not much"), _REMOVED, "<", 0.2),
    Meaning(("fairly well", "reasonably well"), _REMOVED, ">", 1 / 3),
    Meaning(("well", "substantially", "significantly", "efficient"), _REMOVED, ">", 0.5),
    Meaning(("a good fit",), _REMOVED, ">", 0.8),
    Meaning(("nearly", "leaves alone"), _SIZE, "<", 0.02),
    Meaning(("noticeable", "severe"), _SIZE + ", or of log losses", ">", 0.02),
    Meaning(("close", "approximately"), _SIZE, "<", 0.05),
    Meaning(("large",), _SIZE, ">", 0.1),
    Meaning(("barely", "few"), _CASES, "<", 0.1),
    Meaning(("occurs",), _CASES, ">", 0.05),
    Meaning(("most", "tends"), _CASES, ">", 0.5),
    Meaning(("a lot",), _CASES, ">=", 0.5),
    Meaning(("usually", "quite consistently"), _CASES, ">", 0.75),
    Meaning(("almost all", "almost always"), _CASES, ">", 0.9),
    Meaning(("almost identical",), _RATIO, "<", 0.2),
    Meaning(("much alike",), _RATIO, "<", 0.5),
    Meaning(("similar",), _RATIO, "<=", 1.5),
    Meaning(("much",), _RATIO, ">", 1.5),
    Meaning(("sharp",), _RATIO, ">", 2.0),
)
WORDS = {word: meaning for meaning in MEANINGS for word in meaning.words}


def word_table() -> dict[str, list[str]]:
    """The table as columns, as pages show it.

    Examples
    --------
    >>> table = word_table()
    >>> table["word"][3], table["means"][3]
    ('well, substantially, significantly, efficient', '> 0.5')
    """
    return {
        "word": [", ".join(meaning.words) for meaning in MEANINGS],
        "said of": [meaning.of for meaning in MEANINGS],
        "means": [f"{meaning.sign} {meaning.bound:.2g}" for meaning in MEANINGS],
    }
