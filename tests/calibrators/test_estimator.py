"""A calibrator is an estimator of scikit-learn, though fitting one does not load it."""

from __future__ import annotations

import copy
import inspect
import json
import os
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass
from inspect import isabstract
from textwrap import dedent

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags

from veridical import calibrators
from veridical.calibrators import (
    AveragedCalibrator,
    BetaCalibrator,
    Calibrator,
    HistogramCalibrator,
    PlattCalibrator,
)
from veridical.calibrators.core import fresh
from veridical.selection import AutoCalibrator

KINDS = [
    kind
    for name in calibrators.__all__
    if isinstance(kind := getattr(calibrators, name), type) and issubclass(kind, Calibrator)
]


def _name(kind: type) -> str:
    return kind.__name__


# Has everything that scikit-learn needs and nothing of it; every program runs in a copy of this
# process, so that what it loads is gone with it.
_FRESH = """
import contextlib, importlib, json, os, sys, traceback, warnings
import veridical.calibrators
for name in ("joblib", "pandas", "scipy.optimize", "scipy.sparse", "scipy.spatial", "scipy.stats"):
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
assert not [name for name in sys.modules if name.partition(".")[0] == "sklearn"]
warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
for line in sys.stdin:
    child = os.fork()
    if not child:
        try:
            exec(json.loads(line), {})
        except BaseException:
            print(json.dumps(traceback.format_exc()), flush=True)
        else:
            print(json.dumps(""), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture(scope="module")
def run():
    """Run a program where scikit-learn has not been loaded."""
    if not hasattr(os, "fork"):
        pytest.skip("processes are made by forking")
    command = [sys.executable, "-W", "error", "-c", _FRESH]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as fresh:

        def answer(code: str) -> None:
            print(json.dumps(dedent(code)), file=fresh.stdin, flush=True)
            error = json.loads(fresh.stdout.readline())
            assert not error, error

        yield answer
        fresh.stdin.close()


_LATE = """
    import sys
    from veridical.calibrators import BetaCalibrator, PlattCalibrator
    made = PlattCalibrator(feature="probability").fit([0.1, 0.4, 0.6, 0.9] * 9, [0, 0, 1, 1] * 9)
    assert "sklearn" not in sys.modules
"""


@pytest.mark.parametrize("kind", [*KINDS, AutoCalibrator], ids=_name)
def test_every_calibrator_is_a_classifier_of_scikit_learn(kind):
    assert issubclass(kind, BaseEstimator)
    assert issubclass(kind, ClassifierMixin)
    given = set(inspect.signature(kind.__init__).parameters) - {"self"}
    assert kind._get_param_names() == sorted(given)


@pytest.mark.parametrize(
    "asked",
    [
        "made.get_params()['feature'] == 'probability'",
        "made.set_params(input='logit').input == 'logit'",
        "repr(made) == \"PlattCalibrator(feature='probability')\"",
        "'get_params' in dir(made)",
        "PlattCalibrator.score.__name__ == 'score'",
        "made.__sklearn_tags__().estimator_type == 'classifier'",
        "'sample_weight' in str(made.get_metadata_routing())",
        "callable(PlattCalibrator.set_fit_request)",
        "made.score([0.2, 0.8], [0, 1]) == 1.0",
        "'PlattCalibrator' in made._repr_html_()",
    ],
)
def test_what_scikit_learn_gives_is_there_when_it_is_asked_for(asked, run):
    run(f"{_LATE}    assert {asked}\n    assert 'sklearn' in sys.modules")


@pytest.mark.parametrize(
    "met",
    ["clone(made)", "is_classifier(made)", "made.nothing_", "BetaCalibrator()", "copy(made)"],
    ids=["clone", "tags", "missing", "another", "copy"],
)
def test_scikit_learn_that_is_imported_later_finds_its_own_classes(met, run):
    code = f"""{_LATE}
    from copy import copy
    from sklearn.base import BaseEstimator, clone, is_classifier
    try:
        {met}
    except AttributeError:
        pass
    assert isinstance(made, BaseEstimator)
    assert issubclass(BetaCalibrator, BaseEstimator)
    """
    run(code)


def test_names_on_top_are_estimators_for_whoever_has_them(run):
    run("""
    import veridical
    kind = veridical.PlattCalibrator
    from sklearn.base import BaseEstimator
    assert issubclass(kind, BaseEstimator)
    """)


def test_a_class_made_of_a_calibrator_follows_later(run):
    run(f"""{_LATE}
    class Mine(PlattCalibrator):
        def fit(self, y_prob, y, sample_weight=None, *, colour=None):
            return super().fit(y_prob, y, sample_weight)
    import sklearn.base
    mine = Mine()
    assert isinstance(mine, sklearn.base.BaseEstimator)
    assert "colour" in str(mine.get_metadata_routing())
    """)


def test_a_class_that_cannot_be_leaves_calibrators_as_they_are(run):
    run(f"""{_LATE}
    from sklearn.base import BaseEstimator
    kept = None
    try:
        class Mine(BaseEstimator, PlattCalibrator): pass
    except TypeError as error:
        kept = error  # as notebooks keep it, and what it happened in
    assert "method resolution" in str(kept)
    assert isinstance(BetaCalibrator(), BaseEstimator)
    """)


def test_copies_and_pickles_do_not_need_scikit_learn(run):
    run(f"""{_LATE}
    import copy, pickle
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert (again.predict_proba([0.3]) == made.predict_proba([0.3])).all()
    """)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not isabstract(kind)], ids=_name)
def test_a_plain_dataclass_made_of_one_has_a_repr_and_equals_before_it_is_fitted(kind):
    parts = {"calibrators": [PlattCalibrator()], "calibrator": BetaCalibrator()}
    given = {name: parts[name] for name in parts.keys() & set(kind._get_param_names())}
    body = {"__annotations__": {"extra": float}, "extra": 1.0, "__module__": __name__}
    mine = dataclass(type("Mine", (kind,), body))
    assert re.fullmatch(r"Mine\(.*extra=2\.0\)", repr(mine(extra=2.0, **given)))
    assert mine(extra=2.0, **given) == mine(extra=2.0, **given) != mine(extra=3.0, **given)


def test_a_plain_dataclass_made_of_one_has_the_same_repr_after_it_is_fitted():
    @dataclass
    class Mine(PlattCalibrator):
        extra: float = 1.0

    made = Mine(feature="probability")
    before = repr(made)
    assert "feature='probability'" in before
    assert repr(made.fit([0.1, 0.4, 0.6, 0.9] * 9, [0, 0, 1, 1] * 9)) == before


@pytest.mark.parametrize(
    "made",
    [
        PlattCalibrator(feature="probability", labels=["a", "b"]),
        HistogramCalibrator(n_bins=7),
        AveragedCalibrator([PlattCalibrator(), HistogramCalibrator(n_bins=3)], weights=[1, 2]),
        AutoCalibrator(candidates={"one": BetaCalibrator(), "two": PlattCalibrator()}),
    ],
    ids=lambda made: type(made).__name__,
)
def test_a_fresh_copy_is_a_clone(made):
    ours, theirs = fresh(made), clone(made)
    assert repr(ours) == repr(theirs) == repr(made)
    for name, value in ours.get_params().items():
        assert value is not made.get_params()[name] or isinstance(
            value, (float, int, str, type(None))
        )
    changed = fresh(made, pos_label="b")
    assert changed.pos_label == "b"
    assert made.pos_label is None
    assert changed.get_params(deep=False).keys() == made.get_params(deep=False).keys()


def test_a_fresh_copy_is_not_fitted_and_keeps_what_it_routes():
    p, y = np.array([0.2, 0.3, 0.6, 0.9] * 5), np.array([0, 0, 1, 1] * 5)
    with sklearn.config_context(enable_metadata_routing=True):
        made = PlattCalibrator().set_fit_request(sample_weight=True).fit(p, y)
        again = fresh(made)
        assert str(again.get_metadata_routing()) == str(clone(made).get_metadata_routing())
    assert hasattr(made, "classes_")
    assert not hasattr(again, "classes_")


def test_estimators_of_others_within_parameters_are_cloned():
    model = LogisticRegression(C=3.0).fit([[0.0], [1.0]], [0, 1])
    held = PlattCalibrator()
    held.labels = {"model": (model, [model])}
    found = fresh(held).labels["model"]
    assert found[0] is not model
    assert found[0].C == found[1][0].C == 3.0
    assert not hasattr(found[0], "coef_")


def test_tags_and_pickles_in_a_process_with_scikit_learn():
    made = PlattCalibrator().fit([0.1, 0.4, 0.6, 0.9] * 9, [0, 0, 1, 1] * 9)
    assert is_classifier(made)
    assert get_tags(made).target_tags.required
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        np.testing.assert_array_equal(again.predict_proba([0.3]), made.predict_proba([0.3]))
