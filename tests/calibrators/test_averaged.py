"""AveragedCalibrator: a weighted sum of maps and nothing else."""

import numpy as np
import pytest

from veridical.calibrators import (
    AveragedCalibrator,
    BetaCalibrator,
    BoostedCalibrator,
    IdentityCalibrator,
    PlattCalibrator,
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
    TemperatureCalibrator,
)
from veridical.exceptions import InvalidInputError


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    return p, (rng.random(200) < p**2).astype(int)


def test_is_the_weighted_sum_of_its_maps(data):
    p, y = data
    parts = [PlattCalibrator(), BetaCalibrator(), IdentityCalibrator()]
    pool = AveragedCalibrator(parts, weights=[1, 2, 5]).fit(p, y)
    alone = [part.fit(p, y).predict_proba(p) for part in parts]
    expected = (alone[0] + 2 * alone[1] + 5 * alone[2]) / 8
    np.testing.assert_allclose(pool.predict_proba(p), expected, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_maps_that_share_their_features_say_what_they_say_alone(n_classes):
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(n_classes), 300)
    y = (p.cumsum(axis=1)[:, :-1] ** 2 < rng.random((300, 1))).sum(axis=1)
    parts = [
        StructuredMatrixCalibrator(),
        StructuredMatrixCalibrator(features="extended"),
        StructuredVectorCalibrator(),
        BoostedCalibrator(cv=None, max_rounds=5),
    ]
    pool = AveragedCalibrator(parts).fit(p, y)
    assert len(pool.parts_[-1].leaves_) == 5
    alone = np.mean([part.fit(p, y).predict_proba(p) for part in parts], axis=0)
    np.testing.assert_allclose(pool.predict_proba(p), alone, rtol=1e-12)


def test_weights_are_alike_by_default(data):
    p, y = data
    pool = AveragedCalibrator([PlattCalibrator(), BetaCalibrator()]).fit(p, y)
    np.testing.assert_array_equal(pool.weights_, [0.5, 0.5])


def test_log_loss_is_at_most_the_average_of_log_losses(data):
    p, y = data
    parts = [PlattCalibrator(), IdentityCalibrator()]
    rows = np.arange(len(y))
    alone = [-np.log(c.fit(p, y).predict_proba(p)[rows, y]).mean() for c in parts]
    pooled = AveragedCalibrator(parts).fit(p, y).predict_proba(p)[rows, y]
    assert -np.log(pooled).mean() <= np.mean(alone)


def test_options_go_to_the_parts(data):
    p, y = data
    z = np.log(p / (1 - p))
    pool = AveragedCalibrator([TemperatureCalibrator()], input="logit").fit(z, y)
    alone = TemperatureCalibrator(input="logit").fit(z, y)
    np.testing.assert_allclose(pool.predict_proba(z), alone.predict_proba(z))
    with pytest.raises(InvalidInputError, match="set it on the wrapper"):
        AveragedCalibrator([TemperatureCalibrator(input="logit")]).fit(p, y)


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        (([],), {}, "a list of calibrators"),
        ((PlattCalibrator(),), {}, "a list of calibrators"),
        ((["platt"],), {}, "a calibrator"),
        (([PlattCalibrator()],), {"weights": [1, 2]}, "1 non-negative numbers"),
        (([PlattCalibrator()],), {"weights": [0]}, "not all zero"),
        (([PlattCalibrator()],), {"weights": [-1]}, "non-negative"),
        (([PlattCalibrator()],), {"weights": [np.nan]}, "non-negative"),
    ],
)
def test_bad_options(arguments, options, match):
    with pytest.raises(InvalidInputError, match=match):
        AveragedCalibrator(*arguments, **options).fit([0.2, 0.8], [0, 1])
