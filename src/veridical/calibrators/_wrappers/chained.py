"""Calibrators one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from veridical._core.data.schema import Fields, Relations, Several
from veridical._core.formula import Nodes
from veridical._core.typing import FloatArray
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.persistence import Part
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._wrappers.wrapping import WrappingCalibrator, check_calibrators, fit_part
from veridical.exceptions import invalid


@dataclass(eq=False, repr=False)
class ChainedCalibrator(WrappingCalibrator):
    r"""Several maps one after the other, each fitted to what the one before it gives.

    .. math:: c(p) = g_m(\dots g_2(g_1(p)))

    A stiff map first takes most of the error from few rows, a flexible one repairs what is left.
    ``[TemperatureCalibrator(), OneVsRestCalibrator(IsotonicCalibrator())]``, a temperature, then
    isotonic maps of each class against the rest, is IROvA-TS of Mix-n-Match [1]_.

    Parameters
    ----------
    calibrators : sequence of Calibrator
        The maps, the first of which gets the predictions and the others probabilities.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are, as far as the first calibrator takes them.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    parts_ : list of calibrators
        Fitted maps in their order.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    All maps see the same rows. A map that follows a flexible one is fitted to probabilities that
    look better than those of new rows: put stiff maps first. The code of [1]_ leaves the rows of
    one-vs-rest maps as they are; `OneVsRestCalibrator` divides them by their sum.

    Of two classes, a monotone map before another one that only sees the order of scores (isotonic,
    quantile bins) changes nothing but where it interpolates. Of several classes it does: a
    temperature moves the probability of a class by what the others are.

    Exported, the later maps see what an engine has computed, whose last bit may differ: rows within
    1e-15 of a step may end on its other side, and steep pieces magnify. `veridical export` measures
    it.

    References
    ----------
    .. [1] Zhang, Kailkhura & Han (2020), Mix-n-Match: ensemble and compositional methods for
       uncertainty calibration in deep learning, ICML, arXiv 2003.07329.

    Examples
    --------
    Rows that say 0.9 are right three times out of four: T = 2 turns odds of 9 into 3. The isotonic
    map then finds 3/4 in the rows that say 3/4 and changes nothing:

    >>> from veridical.calibrators import IsotonicCalibrator, TemperatureCalibrator
    >>> steps = [TemperatureCalibrator(pseudo_rows=0), IsotonicCalibrator(laplace=0)]
    >>> chain = ChainedCalibrator(steps).fit([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0])
    >>> chain.predict_proba([0.9]).round(6).tolist()
    [[0.25, 0.75]]
    >>> round(chain.parts_[0].temperature_, 6), chain.parts_[1].knots_.round(6).tolist()
    (2.0, [0.75])
    """

    _fitted = Fields(parts_=Several(Part(own_input=True), "m"))

    calibrators: Sequence[Calibrator]

    def _relations(self) -> Relations:
        yield from super()._relations()
        kinds = [part.input for part in self.parts_]
        expected = [self.input, *["probability"] * (len(self.calibrators) - 1)]
        yield "parts_", kinds == expected, f"{len(expected)} maps of {', then '.join(expected[:2])}"

    def _check_parameters(self) -> None:
        check_calibrators(self)
        for k, each in enumerate(self.calibrators):
            self._check_part(each)
            if k and each.input != "probability":
                caller = type(self).__name__
                got = f"{type(each).__name__}(input={each.input!r})"
                hint = f"say what predictions are on the chain: `{caller}(..., input=...)`."
                expected = "of calibrators that take probabilities after the first"
                raise invalid(caller, "calibrators", expected, got, hint=hint)

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        inputs = [self.input, *["probability"] * (len(self.calibrators) - 1)]
        self.parts_ = [
            self._part(each, input=kind)
            for each, kind in zip(self.calibrators, inputs, strict=True)
        ]
        notes: Notes = ()
        for k, part in enumerate(self.parts_):
            if k:
                rows = replace(rows, values=self.parts_[k - 1].predict_proba(rows.values))
            notes += fit_part(part, rows)
        return notes

    def _combine(self, values: FloatArray) -> FloatArray:
        for part in self.parts_:
            values = part.predict_proba(values)
        return values

    def _combine_nodes(self, inputs: Nodes) -> Nodes:
        for part in self.parts_:
            inputs = part._formula(inputs)
        return inputs

    def _in_words(self) -> str:
        words = [part._in_words().rstrip(".") for part in self.parts_]
        return f"{'; then: '.join([words[0], *(w[0].lower() + w[1:] for w in words[1:])])}."
