"""Calibrators as torch modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from veridical._core.runtime.optional import require
from veridical.calibrators import Calibrator
from veridical.calibrators.formulas import formula_of
from veridical.exceptions import invalid
from veridical.export._tensors.torch_module import module_class

if TYPE_CHECKING:
    import torch


def to_torch(calibrator: Calibrator, *, dtype: torch.dtype | None = None) -> torch.nn.Module:
    """Write a fitted calibrator as a torch module.

    Parameters
    ----------
    calibrator : Calibrator
        Fitted.
    dtype : torch.dtype, optional
        ``torch.float64`` (the default) or ``torch.float32``. Inputs are converted to it, and
        outputs are of it.

    Returns
    -------
    torch.nn.Module
        Its ``forward`` takes a tensor of predictions, of the kind the calibrator was fitted to:
        shape (n, K) in the order of `classes_`, or of two classes also (n,), those of the positive
        class (`pos_label`). It returns probabilities of shape (n, K) in the order of
        `classes_`. Numbers that were learnt are buffers: they follow the module to a device and
        into its ``state_dict``, and no optimiser moves them. ``classes`` holds the labels,
        ``columns`` says in words which probability each column of the result is.

    Raises
    ------
    InvalidInputError
        If the calibrator is not a formula of its inputs (`GroupedCalibrator`,
        `ConfidenceReducedCalibrator`, `SimplexHistogramCalibrator`; `OneVsRestCalibrator` of steps
        on logits of three classes or more).
    MissingDependencyError
        If `torch` is not installed.

    Notes
    -----
    In double precision results agree with `predict_proba` to 1e-12. In single precision they agree
    to about 1e-6, except where a map jumps or rises steeply: a number within rounding of an edge
    may fall on the other side of it. A row with NaN, infinity or, of probabilities, a number
    outside [0, 1] gives NaN; that a row's probabilities sum to one is not checked.

    Gradients with respect to the inputs are those of the formula: exact for smooth maps, slopes of
    the pieces for interpolated ones, and zero for steps, which therefore cannot be trained
    through. Where inputs are kept from zero (below the smallest probability seen in fitting) the
    gradient is zero too. ``torch.export.export`` takes the module, with rows as a dynamic size.

    Examples
    --------
    >>> from veridical.calibrators import TemperatureCalibrator
    >>> map = TemperatureCalibrator(pseudo_rows=0).fit([0.9] * 4, [1, 1, 1, 0])  # temperature 2
    >>> import torch                                                 # doctest: +SKIP
    >>> to_torch(map)(torch.tensor([0.9]))                           # doctest: +SKIP
    tensor([[0.2500, 0.7500]], dtype=torch.float64)
    """
    formula = formula_of(calibrator, one_column=False, caller="to_torch")
    if formula.features is not None:
        hint = "use `to_onnx`, `to_sql` or `to_python`."
        got = f"one of {formula.features.names[:6]}"
        raise invalid("to_torch", "calibrator", "a map of predictions alone", got, hint=hint)
    module: Any = require("torch", extra="torch", purpose="to_torch")
    allowed = (module.float64, module.float32)
    if dtype is not None and dtype not in allowed:
        expected, hint = "torch.float64 or torch.float32", "leave it out for double precision."
        raise invalid("to_torch", "dtype", expected, repr(dtype), hint=hint)
    return module_class()(formula, type(calibrator).__name__, dtype or module.float64)
