"""What has no interval is refused, with the reason and a way out."""

import numpy as np
import pytest

from veridical import BinnedError, BrierScore, InvalidInputError, LogScore, SmoothError, SweepBins
from veridical.inference._intervals.bootstrap import bootstrap_interval


def name(value):
    return getattr(value, "name", str(value))


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
@pytest.mark.parametrize("estimator", [BinnedError(), SmoothError()], ids=name)
def test_bootstraps_of_calibration_errors_are_refused_with_the_reason(method, estimator, binary):
    with pytest.raises(InvalidInputError, match="counts its noise twice") as caught:
        bootstrap_interval(estimator, binary.y, binary.p, method=method)
    assert '"analytic"' in str(caught.value)


@pytest.mark.parametrize(
    "estimator",
    [
        SmoothError(bandwidth=0.1),
        BinnedError(norm=3),
        BinnedError(SweepBins()),
        BinnedError(assignment="linear"),
        BinnedError(region=(0.5, 1.0)),
        BinnedError(distance="l1"),
    ],
    ids=lambda e: f"{e.name} {e.definition}",
)
def test_errors_without_a_known_interval_are_refused(estimator, binary):
    with pytest.raises(InvalidInputError, match="`estimator` must be a mean score, a hard"):
        bootstrap_interval(estimator, binary.y, binary.p)


def test_errors_over_several_problems_are_refused(multiclass):
    with pytest.raises(InvalidInputError, match="`lens` must be one that induces a single"):
        bootstrap_interval(BinnedError(), multiclass.y, multiclass.p, lens="classwise")


@pytest.mark.parametrize(
    ("estimator", "options", "match"),
    [
        (BrierScore(), {"method": "bcs"}, "did you mean 'bca'"),
        (BrierScore(), {"confidence_level": 95}, "`confidence_level` must be between 0 and 1"),
        (BrierScore(), {"n_resamples": 0}, "`n_resamples` must be a positive integer"),
        (BrierScore(), {"rng": "seed"}, "`rng` must be a seed"),
        (BrierScore(), {"groups": [1]}, r"`groups` must be of shape \(3,\)"),
        (BrierScore(), {"groups": [1, 1, 1]}, "`groups` must be more than one group"),
        (BrierScore(), {"groups": [1.0, np.nan, 2.0]}, "a missing key at index 1"),
        (BrierScore(), {"groups": np.array([1, "a", 2], dtype=object)}, "keys of one kind"),
        (BrierScore(), {"groups": [1, 1, 2], "stratify": True}, "`stratify` must be False with"),
        (BinnedError(), {"stratify": True}, "`stratify` must be unset"),
        (LogScore(), {}, "1 of 3 infinite log scores"),
        (BrierScore, {}, "`estimator` must be an estimator"),
    ],
)
def test_bad_options_are_refused(estimator, options, match):
    with pytest.raises(InvalidInputError, match=match):
        bootstrap_interval(estimator, [0, 1, 1], [0.2, 0.7, 0.0], **options)


def test_one_row_has_no_interval():
    with pytest.raises(InvalidInputError, match="more than one row"):
        bootstrap_interval(BrierScore(), [1], [0.5], labels=[0, 1])
