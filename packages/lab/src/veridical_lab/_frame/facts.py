"""Facts that an experiment checks against its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from veridical.results.base import Result, columns_of
from veridical.results.display import find_name, html_fold, html_headline, html_list, html_text

Verdict = Literal["reproduced", "differs", "undecided", "added"]
COUNTED: tuple[Verdict, ...] = ("reproduced", "differs", "undecided")
ERRORS = 2.0  # standard errors by which a comparison must be decided


@dataclass(frozen=True, kw_only=True, repr=False)
class FactCheck(Result):
    """One comparison that a fact is judged by.

    Attributes
    ----------
    value : the number found
    standard_error : of it, 0 if nothing was drawn
    sign : "<", "<=", ">", ">=" or "==" with a bound; "=" with a printed number
    bound : what it is compared with
    tolerance : how far a printed number may be off: rounding, and the noise of its own source
    word : of the source, whose meaning the bound is; empty if there is none

    Examples
    --------
    >>> FactCheck(value=0.3, standard_error=0.04, sign=">", bound=0.2).verdict
    'reproduced'
    >>> FactCheck(value=0.3, standard_error=0.06, sign=">", bound=0.2).verdict
    'undecided'
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("sign", "word")

    value: float
    standard_error: float = 0.0
    sign: str
    bound: float
    tolerance: float = 0.0
    word: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether it holds, fails, or cannot be told by two standard errors."""
        if self.sign == "==":
            return "reproduced" if self.value == self.bound else "differs"
        if self.sign == "=":
            margin = self.tolerance - abs(self.value - self.bound)
        else:
            margin = (self.value - self.bound) * (1 if self.sign.startswith(">") else -1)
        if self.standard_error and abs(margin) < ERRORS * self.standard_error:
            return "undecided"
        strict = self.sign in ("<", ">")
        return "reproduced" if margin > 0 or (margin == 0 and not strict) else "differs"

    def _text(self) -> str:
        error = f" ± {self.standard_error:.2g}" if self.standard_error else ""
        return f"{self.value:.6g}{error} {self.sign} {self.bound:.6g}: {self.verdict}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Fact(Result):
    """One number or claim of a source, and what was found.

    Attributes
    ----------
    name : what it is and where it is printed, e.g. "Table 3, classwise ECE"
    printed : as the source prints it; None if it is a claim, or not printed
    value : the number found
    verdict : "reproduced"; "differs", for the reason given; "undecided" if its standard errors do
        not tell; or "added" if the source has no such number
    reason : why it differs, or how far the finding goes
    claim : the claim in words; empty for a number
    checks : comparisons the verdict follows from; the worst of them decides
    cause : name of what several differences have in common; they count once
    origin : program whose output is compared, empty for what the source itself prints

    Examples
    --------
    >>> print(Fact(name="Table 8, Hosmer-Lemeshow", printed=25.295, value=25.295,
    ...            verdict="reproduced"))
    Table 8, Hosmer-Lemeshow: 25.295, printed 25.295: reproduced
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("claim", "reason", "cause", "origin")
    _number_columns: ClassVar[tuple[str, ...]] = ("printed", "value")

    name: str
    printed: float | None = None
    value: float
    verdict: Verdict
    reason: str = ""
    claim: str = ""
    checks: tuple[FactCheck, ...] = ()
    cause: str = ""
    origin: str = ""

    def _text(self) -> str:
        printed = "" if self.printed is None else f", printed {self.printed:.6g}"
        claim = f" ({self.claim})" if self.claim else ""
        why = f", because {self.reason}" if self.reason and self.verdict == "differs" else ""
        return f"{self.name}{claim}: {self.value:.6g}{printed}: {self.verdict}{why}"


@dataclass(frozen=True, kw_only=True, repr=False)
class ExperimentResult(Result):
    """Facts an experiment checked, and the verdict on its source.

    Attributes
    ----------
    name, title, source : of the experiment
    quick : whether it was the short run
    seed : of all random numbers
    facts : every number and claim checked
    conclusion : what a reader should take away
    version : of the library

    Examples
    --------
    >>> fact = Fact(name="Table 8", printed=25.295, value=25.295, verdict="reproduced")
    >>> result = ExperimentResult(name="survey-toy", title="Tables", source="a survey", quick=True,
    ...     seed=0, facts=(fact,), conclusion="The table holds.", version="0.1.0")
    >>> result.verdict
    'Quick run, whose verdicts change with the seed. Reproduced 1. The table holds.'
    >>> result.fact("Table 8").value
    25.295
    """

    name: str
    title: str
    source: str
    quick: bool
    seed: int
    facts: tuple[Fact, ...]
    conclusion: str
    version: str

    @property
    def verdict(self) -> str:
        """How many facts of the source were found again, and the conclusion."""
        quick = "Quick run, whose verdicts change with the seed. " if self.quick else ""
        parts = [
            f"Of {origin}: {_in_words(counts).lower()}" if origin else _in_words(counts)
            for origin, counts in self.counts().items()
        ]
        return f"{quick}{' '.join(parts)} {self.conclusion}"

    def counts(self) -> dict[str, dict[Verdict, int]]:
        """Return how many facts there are of each verdict, by origin; the source's own is "".

        Differences of one cause count once. Outputs of programs are not the source's, and are
        counted by themselves; what the source has no number for is not counted.
        """
        found: dict[str, dict[Verdict, int]] = {"": dict.fromkeys(COUNTED, 0)}
        causes: set[tuple[str, str]] = set()
        for fact in self.facts:
            cause = (fact.origin, fact.cause)
            again = fact.verdict == "differs" and cause in causes
            if fact.verdict == "added" or again:
                continue
            if fact.verdict == "differs" and fact.cause:
                causes.add(cause)
            found.setdefault(fact.origin, dict.fromkeys(COUNTED, 0))[fact.verdict] += 1
        return found

    def fact(self, name: str) -> Fact:
        """Return the fact of this name; KeyError with the names there are if there is none."""
        known = {fact.name: fact for fact in self.facts}
        return known[find_name(name, known, caller="fact")]

    def _columns(self) -> dict[str, list[object]]:
        names = ("name", "claim", "printed", "value", "verdict", "reason", "cause", "origin")
        return columns_of(self.facts, names)

    def _text(self) -> str:
        run = "quick run" if self.quick else "full run"
        lines = [f"{self.name}: {self.title} ({run}, seed {self.seed})", self.verdict]
        return "\n".join(lines + [f"  {fact}" for fact in self.facts])

    def _repr_html_(self) -> str:
        verdict = f"<p>{html_text(self.verdict)}</p>"
        facts = html_fold(f"{len(self.facts)} facts", html_list(self.facts))
        return html_headline(f"{self.name}: {self.title}", verdict, facts)


def _in_words(counts: dict[Verdict, int]) -> str:
    """Counts of verdicts as a sentence.

    Examples
    --------
    >>> _in_words({"reproduced": 5, "differs": 2, "undecided": 0})
    'Reproduced 5, differs 2.'
    """
    told = [f"{verdict} {counts[verdict]}" for verdict in COUNTED if counts[verdict]]
    return (", ".join(told) or "nothing to compare").capitalize() + "."
