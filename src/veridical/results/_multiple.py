"""Several tests at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veridical._core.validation import check_level
from veridical.results._base import Result
from veridical.results._test import format_pvalue


@dataclass(frozen=True, kw_only=True)
class MultipleTest(Result):
    """One test for each class, bin or group, with p-values corrected for their number.

    Attributes
    ----------
    over : "class", "bin" or "group"
    names : what each test is about
    n_samples : rows of each test
    statistics, pvalues : of each test by itself
    adjusted : p-values corrected for how many tests there are
    correction : how
    method, definition, lens, n_resamples : how the tests were made
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("name", "method", "definition", "lens")

    over: str
    names: tuple[Any, ...]
    n_samples: tuple[int, ...]
    statistics: tuple[float, ...]
    pvalues: tuple[float, ...]
    adjusted: tuple[float, ...]
    correction: str
    method: str
    definition: str
    lens: str
    n_resamples: int

    def rejected(self, level: float = 0.05) -> tuple[Any, ...]:
        """Names whose calibration is rejected at this level, all tests considered."""
        check_level("rejected", level, "level")
        pairs = zip(self.names, self.adjusted, strict=True)
        return tuple(name for name, pvalue in pairs if pvalue <= level)

    def __str__(self) -> str:
        head = f"{self.method}, one for each {self.over} ({self.definition}; {self.lens})"
        lines = [
            head,
            f"  {self.over:<24}{'rows':>9}{'statistic':>12}{'p':>9}{self.correction:>22}",
        ]
        order = sorted(range(len(self.names)), key=lambda i: (self.adjusted[i], self.pvalues[i]))
        for i in order:
            lines.append(
                f"  {str(self.names[i])[:23]:<24}{self.n_samples[i]:>9,}{self.statistics[i]:>12.4f}"
                f"{format_pvalue(self.pvalues[i]):>9}{format_pvalue(self.adjusted[i]):>22}"
            )
        return "\n".join(lines)

    def _columns(self) -> dict[str, list[Any]]:
        m = len(self.names)
        return {
            "name": [str(name) for name in self.names],
            "n_samples": list(self.n_samples),
            "statistic": list(self.statistics),
            "pvalue": list(self.pvalues),
            "adjusted": list(self.adjusted),
            "correction": [self.correction] * m,
            "method": [self.method] * m,
            "definition": [self.definition] * m,
            "lens": [self.lens] * m,
        }
