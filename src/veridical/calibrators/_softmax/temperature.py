"""Temperature scaling: one number makes predictions sharper or flatter; alone or in a mixture."""

from __future__ import annotations

import numpy as np

from veridical._core.data.schema import Fields, Numbers, Relations
from veridical._core.formula import Linear, Nodes
from veridical._core.numeric.blocks import row_blocks
from veridical._core.numeric.simplex import simplex_weights
from veridical._core.typing import FloatArray
from veridical.calibrators._base.bases import Notes, WeightedOutcomes
from veridical.calibrators._base.frames import FitColumns
from veridical.calibrators._base.nodes import logits_of, mixed_with_uniform, softmax_of
from veridical.calibrators._base.words import number
from veridical.calibrators._softmax.inverse_temperature import (
    TEMPERATURE,
    TemperatureFit,
    fit_inverse_temperature,
    inverse_of_each_other,
)
from veridical.calibrators._softmax.softmax import GuardedCalibrator, rows_of, softmax_in_place
from veridical.calibrators._softmax.summed import temperature_of_sums


class TemperatureCalibrator(GuardedCalibrator):
    r"""Divides logits by one temperature: softmax(z / T).

    .. math:: c_j(z) = (1 - u) \frac{\exp(z_j / T)}{\sum_k \exp(z_k / T)} + \frac{u}{K}

    T > 1 flattens predictions, T < 1 sharpens them. T has the least mean log loss on the fitted
    rows, found to a derivative below 1e-9; the loss is convex in 1/T, so the minimum is the only
    one. The order of classes within a row, hence accuracy, never changes.

    Parameters
    ----------
    pseudo_rows : float, default 1.0
        Guard: a share u = pseudo_rows / (n + pseudo_rows) of the uniform distribution is mixed in
        after fitting,
        so that no outcome gets probability zero. 0 turns it off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Probabilities become their logarithms; scores are read as logits.
        One column of a binary problem gives the same temperature as its two columns.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What n is with weights: (sum w)^2 / sum w^2, or sum w (then integer weight = repetition).

    Attributes
    ----------
    temperature_, inverse_temperature_ : float
        T and 1/T.
    mix_ : float
        u, the share of the uniform distribution.
    n_iter_ : int
        Passes over all rows.
    gradient_norm_ : float
        Absolute derivative of the mean log loss in log T at the solution, or a bound of it.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Eq. 12 of the survey [1]_ prints exp(-z_j / t), which reverses the order of classes; the sign
    here is that of Guo et al. [2]_. The mix follows [3]_.

    Where no optimum exists the answer is still defined. Scores that point away from the truth
    on average (the loss falls towards 1/T = 0): 1/T is 1e-6 over the widest range of logits in
    a row, uniform to six digits but in the same order. Separable rows (the true class is always
    on top, T would fall to 0): T stops where the mean log loss is 1 / (n + 1) above its limit.
    All scores equal: T = 1.

    A single number cannot repair errors that differ between classes; see `VectorCalibrator` and
    `StructuredMatrixCalibrator`. Time O(n K) a pass, 3 to 10 passes; memory O(n K).

    References
    ----------
    .. [1] Silva Filho et al. (2023), Machine Learning 112, doi 10.1007/s10994-023-06336-7, §5.4.1.
    .. [2] Guo, Pleiss, Sun & Weinberger (2017), ICML, arXiv 1706.04599.
    .. [3] Berta, Holzmüller, Jordan & Bach (2025), arXiv 2501.19195.

    Examples
    --------
    Predictions of 0.9 that are right three times out of four: 9^(1/T) = 3, so T = 2.

    >>> y = [1, 1, 1, 0]
    >>> calibrator = TemperatureCalibrator(pseudo_rows=0).fit([0.9, 0.9, 0.9, 0.9], y)
    >>> round(calibrator.temperature_, 6)
    2.0
    >>> calibrator.predict_proba([0.9]).round(6).tolist()
    [[0.25, 0.75]]
    """

    _fitted = TEMPERATURE

    def _relations(self) -> Relations:
        yield from super()._relations()
        yield from inverse_of_each_other(self)

    def _fit_map(self, logits: FloatArray, rows: WeightedOutcomes) -> None:
        self._keep(fit_inverse_temperature(logits, rows), rows.size)

    def _fit_sums(self, columns: FitColumns) -> Notes:
        found = temperature_of_sums(self, columns)
        self._keep(found.fit, found.size)
        self.fitted_on_ = found.fitted_on
        return ()

    def _keep(self, fit: TemperatureFit, size: float) -> None:
        self.inverse_temperature_ = fit.inverse
        self.temperature_ = 1 / fit.inverse
        self.n_iter_ = fit.n_iter
        self.gradient_norm_ = abs(fit.gradient)
        self.mix_ = self._mixing_share(size)

    def _map(self, logits: FloatArray) -> FloatArray:
        # logarithms of probabilities were made for this call; logits are the caller's
        scores = logits if self.input == "probability" else logits.copy()
        return softmax_in_place(scores, self.mix_, self.inverse_temperature_)

    def _formula(self, inputs: Nodes) -> Nodes:
        scaled = softmax_of(logits_of(self, inputs), self.inverse_temperature_)
        return mixed_with_uniform(scaled, self.mix_)

    def _in_words(self) -> str:
        temperature, guard = number(self.temperature_), self._guard_in_words()
        return f"Divides {self._logits_in_words()} by {temperature}{guard}."


class EnsembleTemperatureCalibrator(GuardedCalibrator):
    r"""Mixes temperature-scaled, raw and uniform probabilities.

    .. math:: c(z) = w_1 \, \mathrm{softmax}(z / T) + w_2 \, \mathrm{softmax}(z) + w_3 / K

    First T, then the weights have the least mean log loss on the fitted rows; the weights are
    non-negative and sum to one, and their problem is convex. The order of classes within a row
    never changes. The uniform part lets the data say how often predictions are blunders, which
    a temperature alone has to answer by flattening every row.

    Parameters
    ----------
    pseudo_rows : float, default 1.0
        Guard: a share u = pseudo_rows / (n + pseudo_rows) of the uniform distribution is mixed in
        after fitting,
        since the fitted share w3 may be zero. 0 turns it off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Probabilities become their logarithms; scores are read as logits.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What n is with weights: (sum w)^2 / sum w^2, or sum w (then integer weight = repetition).

    Attributes
    ----------
    weights_ : array of shape (3,)
        Shares of scaled, raw and uniform probabilities.
    temperature_, inverse_temperature_ : float
        T and 1/T.
    mix_ : float
        u, the share of the uniform distribution that guards.
    n_iter_ : int
        Steps of the search for the weights.
    gradient_norm_ : float
        By how much the optimality conditions of the weights fail, an upper bound of the mean log
        loss that better weights could save; at most 1e-10.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    The method of [1]_ with log loss in both steps (the reference code uses squared error). Where
    T = 1 the first two parts are the same and their weights are not determined apart. T where no
    optimum exists: see `TemperatureCalibrator`. Time O(n K) a pass as for a temperature, then
    O(n) a step; memory O(n K).

    References
    ----------
    .. [1] Zhang, Kailkhura & Han (2020), Mix-n-Match, ICML, arXiv 2003.07329, §4.1.

    Examples
    --------
    One prediction of 0.9 for all rows, right three times out of four: T = 2 gives 0.75 at once,
    and no mixture does better.

    >>> calibrator = EnsembleTemperatureCalibrator(pseudo_rows=0)
    >>> calibrator = calibrator.fit([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0])
    >>> calibrator.predict_proba([0.9]).round(6).tolist()
    [[0.25, 0.75]]
    """

    _fitted = Fields(**TEMPERATURE, weights_=Numbers(3, low=0, high=1, shares=True))

    def _relations(self) -> Relations:
        yield from super()._relations()
        yield from inverse_of_each_other(self)

    def _fit_map(self, logits: FloatArray, rows: WeightedOutcomes) -> None:
        self.inverse_temperature_ = fit_inverse_temperature(logits, rows).inverse
        self.temperature_ = 1 / self.inverse_temperature_
        share = rows.weights
        share /= share.sum()
        likelihoods = np.empty((len(rows.y), 3))
        for column, inverse in enumerate((self.inverse_temperature_, 1.0)):
            likelihoods[:, column] = _likelihood(logits, rows, inverse)
        likelihoods[:, 2] = 1 / rows.n_classes
        fit = simplex_weights(likelihoods, share)
        self.weights_ = fit.weights
        self.n_iter_ = fit.n_iter
        self.gradient_norm_ = fit.violation
        self.mix_ = self._mixing_share(rows.size)

    def _map(self, logits: FloatArray) -> FloatArray:
        scaled, raw, uniform = ((1 - self.mix_) * self.weights_).tolist()
        result = softmax_in_place(np.multiply(logits, self.inverse_temperature_))
        result *= scaled
        if raw:
            part = softmax_in_place(np.array(logits))
            part *= raw
            result += part
        result += (uniform + self.mix_) / logits.shape[1]
        return result

    def _formula(self, inputs: Nodes) -> Nodes:
        scores, share = logits_of(self, inputs), 1 - self.mix_
        scaled, raw, uniform = (share * self.weights_).tolist()
        constant = (uniform + self.mix_) / len(scores)
        pairs = zip(softmax_of(scores, self.inverse_temperature_), softmax_of(scores), strict=True)
        return tuple(Linear(((scaled, cool), (raw, plain)), constant) for cool, plain in pairs)

    def _in_words(self) -> str:
        scaled, raw, uniform = ((1 - self.mix_) * self.weights_).tolist()
        return (
            f"Mixes probabilities: {number(scaled)} of those with {self._logits_in_words()} divided"
            f" by {number(self.temperature_)}, {number(raw)} of those predicted and"
            f" {number(uniform + self.mix_)} of the uniform distribution."
        )


def _likelihood(logits: FloatArray, rows: WeightedOutcomes, inverse: float) -> FloatArray:
    """Probability of each row's outcome under softmax(inverse * z), kept from underflow."""
    found = np.empty(len(logits))
    for block in row_blocks(len(logits), rows_of(rows.n_classes)):
        p = softmax_in_place(np.multiply(logits[block], inverse))
        np.maximum(p[np.arange(len(p)), rows.y[block]], 1e-300, out=found[block])
    return found
