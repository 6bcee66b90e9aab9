"""What is timed: name -> function that readies a sample and returns the call to time.

Whatever is not the computation (conversion to tensors, imports) happens before the returned call.
A contender whose package is absent raises `ModuleNotFoundError`.
"""

from __future__ import annotations

from collections.abc import Callable

import plain_errors
from data import Sample

Call = Callable[[], float]
N_BINS = 15


def veridical_binary(sample: Sample) -> Call:
    from veridical import expected_calibration_error

    return lambda: expected_calibration_error(sample.y, sample.p, n_bins=N_BINS)


def veridical_confidence(sample: Sample) -> Call:
    from veridical import expected_calibration_error

    return lambda: expected_calibration_error(sample.y, sample.p, lens="confidence", n_bins=N_BINS)


def veridical_classwise(sample: Sample) -> Call:
    from veridical import classwise_calibration_error

    return lambda: classwise_calibration_error(sample.y, sample.p, n_bins=N_BINS)


def veridical_evaluate(sample: Sample) -> Call:
    from veridical import evaluate

    def call() -> float:
        evaluate(sample.y, sample.p)
        return float("nan")  # a whole evaluation has no single value to show

    return call


def sklearn_curve(sample: Sample) -> Call:
    from sklearn.calibration import calibration_curve

    def call() -> float:
        calibration_curve(sample.y, sample.p, n_bins=N_BINS)
        return float("nan")  # it returns no counts, so no error can be computed from it

    return call


def relplot_binned(sample: Sample) -> Call:
    from relplot.metrics import binnedECE

    return lambda: float(binnedECE(sample.p, sample.y, nbins=N_BINS))


def torchmetrics_binary(sample: Sample) -> Call:
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    p, y = torch.from_numpy(sample.p), torch.from_numpy(sample.y)
    return lambda: float(binary_calibration_error(p, y, n_bins=N_BINS))


def torchmetrics_confidence(sample: Sample) -> Call:
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    p, y = torch.from_numpy(sample.p), torch.from_numpy(sample.y)
    return lambda: float(multiclass_calibration_error(p, y, p.shape[1], n_bins=N_BINS))


def netcal_confidence(sample: Sample) -> Call:
    from netcal.metrics import ECE

    return lambda: float(ECE(bins=N_BINS).measure(sample.p, sample.y))


def plain(function: Callable[..., float]) -> Callable[[Sample], Call]:
    """Contender for one of the plain NumPy functions."""
    return lambda sample: lambda: function(sample.y, sample.p, N_BINS)


VERIDICAL: dict[str, Callable[[Sample], Call]] = {
    "binary": veridical_binary,
    "confidence": veridical_confidence,
    "classwise": veridical_classwise,
    "evaluate": veridical_evaluate,
}

PEERS: dict[str, dict[str, Callable[[Sample], Call]]] = {
    "binary": {
        "scikit-learn calibration_curve": sklearn_curve,
        "relplot binnedECE": relplot_binned,
        "torchmetrics": torchmetrics_binary,
        "read once (p.max)": plain(plain_errors.read_once),
    },
    "confidence": {
        "torchmetrics": torchmetrics_confidence,
        "netcal ECE": netcal_confidence,
        "kyle-style NumPy": plain(plain_errors.confidence_by_bincount),
        "PyCalib-style loop": plain(plain_errors.confidence_by_masks),
        "one argmax": plain(plain_errors.one_argmax),
    },
    "classwise": {
        "kyle-style NumPy": plain(plain_errors.classwise_by_bincount),
        "PyCalib-style loop": plain(plain_errors.classwise_by_masks),
        "read once (p.max)": plain(plain_errors.read_once),
    },
    "evaluate": {},
}
