"""What was written for elsewhere, and how close it is to the calibrator."""

from __future__ import annotations

from dataclasses import dataclass

from veridical.results._forms.text import note_lines
from veridical.results.base import Result


@dataclass(frozen=True, kw_only=True, repr=False)
class ExportedMap(Result):
    """A calibrator in another language, and what came of running it.

    Attributes
    ----------
    calibrator : name of its class
    target : "sql", "python", "onnx" or "json"
    dialect : of SQL; None of others
    size : bytes
    inputs, output : what goes in and comes out, in words that name the class
    n_scores : rows that were run through it; 0 if it was not executed
    max_error : largest distance of a probability from that of `predict_proba`; None if not executed
    executed_in : what ran it, with its version; None if nothing did
    notes : why it was not executed, or what else to know
    """

    calibrator: str
    target: str
    dialect: str | None
    size: int
    inputs: str
    output: str
    n_scores: int
    max_error: float | None
    executed_in: str | None
    notes: tuple[str, ...] = ()

    def _text(self) -> str:
        language = {"sql": f"SQL for {self.dialect}", "python": "Python", "onnx": "ONNX"}
        size = f"{self.size:,} bytes" if self.size < 10_000 else f"{self.size / 1e3:,.0f} kB"
        lines = [
            f"{self.calibrator} as {language.get(self.target, 'JSON')}, {size}",
            f"  in: {self.inputs}",
            f"  out: {self.output}",
            f"  checked: {self._checked()}",
        ]
        return "\n".join([*lines, *note_lines(self.notes, apart=False)])

    def _checked(self) -> str:
        if self.max_error is None:
            return "no, not executed"
        close = f"all within {self.max_error:.2g} of" if self.max_error else "every bit as by"
        return f"{self.n_scores:,} scores in {self.executed_in}, {close} predict_proba"
