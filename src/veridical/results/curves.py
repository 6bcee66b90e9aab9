"""Reliability curves, what they say of single predictions, and the diagrams drawn of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.data.validation import check_probabilities, float_array, is_number
from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.results.base import ArrayResult

_MANY = 40  # points from which a text table leaves some out


class _Curve(ArrayResult):
    """Arrays of one length, with limits or without."""

    def _listed(self, *names: str) -> dict[str, list[Any]]:
        """Columns of a table, limits included."""
        columns = self._arrays(*names)
        n = len(columns[names[0]])
        for name in ("low", "high"):
            limits = getattr(self, name)
            columns[name] = [None] * n if limits is None else limits.tolist()
        return columns


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CurveReading(_Curve):
    """A reliability curve read at single predictions.

    Attributes
    ----------
    predicted : the predictions
    observed : frequency the curve gives for each: its calibrated probability
    count : rows of the bin, block or cell that holds the prediction; 0 if none does, and then the
        nearest ones answer
    low, high : limits of the curve there, or None
    interval, confidence_level, definition : how the curve was made
    """

    predicted: FloatArray
    observed: FloatArray
    count: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    interval: str | None = None
    confidence_level: float | None = None
    definition: str

    def __len__(self) -> int:
        return len(self.predicted)

    def _text(self) -> str:
        lines = [f"{self.definition}", "predicted  observed       rows"]
        for i in range(len(self)):
            means = f"{self.predicted[i]:>9.4f}  {self.observed[i]:>8.4f}"
            lines.append(f"{means}  {_rows(self.count[i])}{limits_text(self, i, '  ')}")
        return "\n".join(lines)

    def _columns(self) -> dict[str, list[Any]]:
        return self._listed("predicted", "observed", "count")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ReliabilityCurve(_Curve):
    """Observed frequency against prediction; only bins, blocks or cells that hold rows.

    Attributes
    ----------
    lower, upper : edges of the bins or cells; smallest and largest score of an isotonic block
    count : rows in the bin, as expected from the density for method "density" and "smooth"
    weight : sum of weights
    predicted, observed : mean prediction and observed frequency; the middle of the cell and the
        frequency there for "density" and "smooth"
    gap : observed - predicted; negative is over-prediction
    low, high : confidence limits of the observed frequency, or None; for consistency intervals
        what would be observed if the model were calibrated, so limits around `predicted`
    closed : side on which bins are closed, "right" or "left"
    event : what the predictions are the probability of, e.g. "Status = 'bad'"; "" if unknown
    lens, method, definition, interval, confidence_level, n_samples : how it was made
    """

    lower: FloatArray
    upper: FloatArray
    count: FloatArray
    weight: FloatArray
    predicted: FloatArray
    observed: FloatArray
    gap: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    lens: str
    method: str
    definition: str
    interval: str | None = None
    confidence_level: float | None = None
    closed: str = "right"
    event: str = ""
    n_samples: int

    @property
    def around_prediction(self) -> bool:
        """Whether limits are of what a calibrated model would show, not of the curve."""
        return self.interval in ("consistency", "consistency-bootstrap")

    @property
    def says(self) -> str:
        """What is predicted, in words for an axis or a heading."""
        if self.lens == "confidence":
            return "confidence"
        return f"probability that {self.event}" if self.event else "predicted probability"

    @property
    def happens(self) -> str:
        """What is observed, in words for an axis or a heading."""
        if self.lens == "confidence":
            return "share that was right"
        return f"observed frequency of {self.event}" if self.event else "observed frequency"

    def __len__(self) -> int:
        return len(self.count)

    def _text(self) -> str:
        return "\n".join([self.heading, *self.table()])

    def _headline(self) -> str:
        return self.heading

    @property
    def heading(self) -> str:
        """One line: of what it is, and how it was made."""
        about = f" ({self.says})" if self.event else ""
        return f"reliability{about}, {self.lens} lens, {self.definition}"

    def at(self, p: ArrayLike) -> CurveReading:
        """Read the curve at single predictions.

        Parameters
        ----------
        p : float or array-like of shape (n,)
            Probabilities the model gave.

        Returns
        -------
        CurveReading
            With `observed`, the frequency to expect where the model says p, and `low` and `high`
            if the curve has limits.

        Notes
        -----
        Bins and isotonic blocks are steps: the one that holds p answers, else the nearest (the
        left of two equally near). A simultaneous band holds between blocks too: its lower limit is
        that of the block before (0 before the first), its upper limit that of the block after (1
        after the last). Curves of method "density" and "smooth" are read by linear interpolation,
        constant beyond their ends.

        Examples
        --------
        >>> from veridical import reliability_curve
        >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2)
        >>> curve.at([0.1, 0.9]).observed.tolist()
        [0.5, 1.0]
        """
        scores = float_array([p] if is_number(p) else p, caller="at", param="p")
        if scores.ndim != 1:
            hint = "give the probabilities of the class the curve is of."
            raise invalid(
                "at", "p", "a number or of shape (n,)", f"shape {scores.shape}", hint=hint
            )
        scores = check_probabilities(scores, caller="at", param="p")
        holder = self._holder(scores)
        read: dict[str, FloatArray]
        held = holder >= 0
        values: dict[str, FloatArray] = {"observed": self.observed}
        if self.low is not None and self.high is not None:
            values |= {"low": self.low, "high": self.high}
        if self.method in ("density", "smooth"):
            read = {key: np.interp(scores, self.predicted, v) for key, v in values.items()}
        else:
            index = np.where(held, holder, self._nearest(scores))
            read = {name: v[index] for name, v in values.items()}
            if self.interval == "simultaneous":
                before = np.searchsorted(self.upper.astype(scores.dtype), scores, side="left")
                low, high = np.append(0.0, values["low"]), np.append(values["high"], 1.0)
                read["low"] = np.where(held, read["low"], low[before])
                read["high"] = np.where(held, read["high"], high[before])
        return CurveReading(
            predicted=scores.astype(np.float64),
            count=np.where(held, self.count[np.maximum(holder, 0)], 0.0),
            interval=self.interval,
            confidence_level=self.confidence_level,
            definition=self.heading,
            **read,
        )

    def _holder(self, p: FloatArray) -> IntArray:
        """Index of the bin, block or cell each prediction is in, -1 if none."""
        lower, upper = self.lower.astype(p.dtype), self.upper.astype(p.dtype)
        if self.closed == "left":
            index = np.maximum(np.searchsorted(lower, p, side="right") - 1, 0)
            inside = (p >= lower[index]) & ((p < upper[index]) | (p == 1))
        else:
            index = np.minimum(np.searchsorted(upper, p, side="left"), len(self) - 1)
            inside = (p > lower[index]) & (p <= upper[index])
            # The first bin is closed on both sides, and so are blocks of scores.
            inside |= (p == lower[index]) & ((p == 0) | (self.method == "isotonic"))
        return np.where(inside, index, -1)

    def _nearest(self, p: FloatArray) -> IntArray:
        right = np.clip(np.searchsorted(self.upper, p, side="left"), 0, len(self) - 1)
        left = np.maximum(right - 1, 0)
        nearer = np.abs(p - self.upper[left]) <= np.abs(self.lower[right] - p)
        return np.where(nearer & (p > self.upper[left]) & (p < self.lower[right]), left, right)

    def table(self) -> list[str]:
        """Lines of a text table, one a bin; of more than 40 blocks or cells only some."""
        limits = "" if self.interval is None else f"  {self.confidence_level:.0%} {self.interval}"
        lines = [f"{'bin':>14}  {'rows':>9}  predicted  observed      gap{limits}"]
        n = len(self)
        step = 1 if self.method == "bins" or n <= _MANY else -(-n // (_MANY // 2))
        for i in range(0, n, step):
            bin_range = f"{self.lower[i]:.3f} to {self.upper[i]:.3f}"
            lines.append(
                f"{bin_range:>14}  {_rows(self.count[i])}  {self.predicted[i]:>9.4f}"
                f"  {self.observed[i]:>8.4f}  {self.gap[i]:>+7.4f}{limits_text(self, i, '  ')}"
            )
        if step > 1:
            lines.append(f"every {step}th of {n} points; `to_frame` has them all")
        return lines

    def _columns(self) -> dict[str, list[Any]]:
        return self._listed("lower", "upper", "count", "weight", "predicted", "observed", "gap")


def _rows(count: float) -> str:
    return f"{round(float(count), 1):>9,.10g}"


def limits_text(curve: CurveReading | ReliabilityCurve, i: int, before: str = "") -> str:
    """Limits of one point, after `before`; nothing without any."""
    if curve.low is None or curve.high is None:
        return ""
    return f"{before}{curve.low[i]:.3f} to {curve.high[i]:.3f}"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ReliabilityDisplay(ArrayResult):
    """A reliability diagram as it is drawn everywhere: in figures, reports, notebooks, the studio.

    Both axes have the same scale and the same ends, so that the diagonal goes from corner to
    corner.

    Attributes
    ----------
    curve : points with limits; of bins, or of an isotonic or smooth fit where rows are few
    axis : "linear", or "logit" (log-odds) where nearly all predictions are close to 0 or to 1
    low, high : ends of both axes
    line_x, line_y : corners of the line through the curve; NaN where it breaks
    band_x, band_low, band_high : corners of the band around it; none for bins, whose limits are
        those of the curve
    bar_edges, bar_counts : histogram of the predictions; those beyond the axes are in its ends
    says, happens : words of the axes, which name the class
    reason : why this kind of curve and axis
    """

    curve: ReliabilityCurve
    axis: str
    low: float
    high: float
    line_x: FloatArray
    line_y: FloatArray
    band_x: FloatArray
    band_low: FloatArray
    band_high: FloatArray
    bar_edges: FloatArray
    bar_counts: FloatArray
    says: str
    happens: str
    reason: str

    @property
    def binned(self) -> bool:
        """Whether points of bins are drawn, with their limits, and not a band."""
        return self.curve.method == "bins"

    def on_axis(self, axis: str, low: float, high: float) -> ReliabilityDisplay:
        """The same on another axis, such as one shared with other diagrams."""
        return replace(self, axis=axis, low=low, high=high)

    def _headline(self) -> str:
        return f"{self.says}: {self.reason}"

    def _text(self) -> str:
        return f"{self.says}: {self.reason}\n{self.curve}"
