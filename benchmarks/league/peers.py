"""Calibrators of other packages, called as their documentation says, with default settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from contenders import Contender, Fit, Prepared


def one_vs_rest(fit_binary: Callable[[np.ndarray, np.ndarray], Prepared]) -> Fit:
    """A binary map for each class against the rest; for K = 2 the map of the second class."""

    def fit(p_cal: np.ndarray, y_cal: np.ndarray) -> Prepared:
        if p_cal.shape[1] == 2:
            only = fit_binary(p_cal[:, 1], y_cal)
            return lambda p: only(p[:, 1])
        maps = [fit_binary(p_cal[:, k], (y_cal == k).astype(int)) for k in range(p_cal.shape[1])]
        return lambda p: np.column_stack([m(p[:, k]) for k, m in enumerate(maps)])

    return fit


class PassThrough:
    """A "fitted classifier" for scikit-learn whose features are its own probabilities."""

    _estimator_type = "classifier"

    def __init__(self, n_classes: int) -> None:
        self.classes_ = np.arange(n_classes)

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator, ClassifierMixin

        return type("Tagged", (ClassifierMixin, BaseEstimator), {})().__sklearn_tags__()

    def fit(self, x: np.ndarray, y: np.ndarray) -> PassThrough:
        del x, y
        return self

    def predict_proba(self, x: np.ndarray) -> np.ndarray:
        return x

    def predict(self, x: np.ndarray) -> np.ndarray:
        return x.argmax(axis=1)


class LogOdds(PassThrough):
    """The same with log odds (K = 2) or log-probabilities, as linear models offer them."""

    def decision_function(self, x: np.ndarray) -> np.ndarray:
        z = np.log(np.maximum(x, 1e-15))
        return z[:, 1] - z[:, 0] if x.shape[1] == 2 else z


def scikit_learn(method: str, kind: type[PassThrough]) -> Fit:
    """CalibratedClassifierCV of a frozen model, with one calibrator on all rows."""

    def fit(p_cal: np.ndarray, y_cal: np.ndarray) -> Prepared:
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.frozen import FrozenEstimator

        rows = np.arange(len(y_cal))  # one fold of all rows: a frozen model cannot leak
        calibrator = CalibratedClassifierCV(
            FrozenEstimator(kind(p_cal.shape[1])), method=method, cv=[(rows, rows)], ensemble=False
        )
        return calibrator.fit(p_cal, y_cal).predict_proba

    return fit


def _betacal(p: np.ndarray, y: np.ndarray) -> Prepared:
    from betacal import BetaCalibration

    return BetaCalibration("abm").fit(p.reshape(-1, 1), y).predict


def _splinecalib(p: np.ndarray, y: np.ndarray) -> Prepared:
    from splinecalib import SplineCalib

    calibrator = SplineCalib()
    calibrator.fit(p, y)
    return calibrator.calibrate


def _venn_abers(va_type: str) -> Fit:
    def fit(p_cal: np.ndarray, y_cal: np.ndarray) -> Prepared:
        from venn_abers import VennAbersCalibrator

        return lambda p: VennAbersCalibrator().predict_proba(
            p_cal=p_cal, y_cal=y_cal, p_test=p, va_type=va_type
        )

    return fit


def _netcal(module: str, name: str) -> Fit:
    def fit(p_cal: np.ndarray, y_cal: np.ndarray) -> Prepared:
        import importlib

        calibrator = getattr(importlib.import_module(f"netcal.{module}"), name)()
        binary = p_cal.shape[1] == 2
        calibrator.fit(p_cal[:, 1].copy() if binary else p_cal.copy(), y_cal)
        return lambda p: calibrator.transform(p[:, 1].copy() if binary else p.copy())

    return fit


def _probmetrics(method: str, **options: Any) -> Fit:
    def fit(p_cal: np.ndarray, y_cal: np.ndarray) -> Prepared:
        from probmetrics.calibrators import get_calibrator

        calibrator = get_calibrator(method, **options)
        return calibrator.fit(p_cal, y_cal).predict_proba

    return fit


def _probmetrics_ets(p_cal: np.ndarray, y_cal: np.ndarray) -> Prepared:
    from probmetrics.calibrators import ETSCalibrator

    return ETSCalibrator(loss="ce").fit(p_cal, y_cal).predict_proba


def _uncertainty_calibration(p_cal: np.ndarray, y_cal: np.ndarray) -> Prepared:
    import calibration

    if p_cal.shape[1] == 2:
        binary = calibration.PlattBinnerCalibrator(len(y_cal), num_bins=10)
        binary.train_calibration(p_cal[:, 1], y_cal)
        return lambda p: binary.calibrate(p[:, 1])
    marginal = calibration.PlattBinnerMarginalCalibrator(len(y_cal), num_bins=10)
    marginal.train_calibration(p_cal, y_cal)
    return marginal.calibrate


def _quadratic(method: str) -> Fit:
    return _probmetrics(method, logistic_binary_type="quadratic")


def _peer(package: str, name: str, fit: Fit, **limits: Any) -> Contender:
    return Contender(f"{package} {name}", package, fit, **limits)


# Limits follow from measured seconds, see README.md.
PEERS = [
    _peer("scikit-learn", "sigmoid", scikit_learn("sigmoid", PassThrough)),
    _peer("scikit-learn", "sigmoid on logits", scikit_learn("sigmoid", LogOdds)),
    _peer("scikit-learn", "isotonic", scikit_learn("isotonic", PassThrough)),
    _peer("scikit-learn", "temperature", scikit_learn("temperature", PassThrough)),
    _peer("betacal", "abm", one_vs_rest(_betacal)),
    _peer("splinecalib", "default", one_vs_rest(_splinecalib), splits=2, max_classes=2),
    _peer("venn-abers", "one-vs-one", _venn_abers("one_vs_one"), max_classes=20),
    _peer("venn-abers", "one-vs-rest", _venn_abers("one_vs_rest")),
    _peer("netcal", "temperature", _netcal("scaling", "TemperatureScaling")),
    _peer("netcal", "logistic", _netcal("scaling", "LogisticCalibration"), max_classes=2),
    _peer("netcal", "beta", _netcal("scaling", "BetaCalibration"), max_classes=2),
    _peer("netcal", "histogram", _netcal("binning", "HistogramBinning")),
    _peer("netcal", "isotonic", _netcal("binning", "IsotonicRegression")),
    _peer("netcal", "BBQ", _netcal("binning", "BBQ"), splits=2, max_classes=2),
    _peer("netcal", "ENIR", _netcal("binning", "ENIR"), splits=2, max_classes=2),
    _peer("probmetrics", "TS", _probmetrics("temp-scaling")),
    _peer("probmetrics", "TS-mix", _probmetrics("ts-mix")),
    _peer("probmetrics", "ETS", _probmetrics_ets),
    _peer("probmetrics", "SVS", _probmetrics("svs", svs_print_init_info=False)),
    _peer("probmetrics", "SMS", _probmetrics("sms", sms_print_init_info=False)),
    _peer("probmetrics", "logistic", _probmetrics("logistic"), twin="probmetrics SMS"),
    _peer("probmetrics", "quadratic", _quadratic("logistic"), twin="probmetrics SMS"),
    _peer("probmetrics", "logistic-mix", _probmetrics("logistic-mix")),
    _peer(
        "probmetrics",
        "quadratic-mix",
        _quadratic("logistic-mix"),
        twin="probmetrics logistic-mix",
    ),
    _peer("probmetrics", "CIR", _probmetrics("cir"), max_classes=20),
    _peer("uncertainty-calibration", "Platt binner", _uncertainty_calibration),
]
