"""Tables come back in the library the data came in."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from forms.every_result import binary
from needs import needed
from public_names import HOMES

import veridical as v
from veridical.results import Result


def table(library, data):
    module = needed(library)
    return module.table(data) if library == "pyarrow" else module.DataFrame(data)


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_frames_come_back_as_they_came(library):
    y, p = binary(300)
    data = table(library, {"y": y, "p": p, "q": p / 2, "part": ["a", "b", "c"] * 100})
    found = v.evaluate(data, y="y", prob="p", by="part", rng=0, n_resamples=50)
    for each in (found, found.curve, found.groups[0][1], found.default, found.verdict):
        assert type(each.to_frame()).__module__.startswith(library)
    assert type(found.to_frame(backend="polars")).__module__.startswith("polars")
    compared = v.compare({"p": data["p"], "q": data["q"]}, data["y"], rng=0, n_resamples=50)
    assert type(compared.to_frame()).__module__.startswith(library)


def test_series_decide_and_arrays_are_polars():
    pandas = needed("pandas")
    y, p = binary(300)
    assert isinstance(v.reliability_curve(y, pandas.Series(p)).to_frame(), pandas.DataFrame)
    assert isinstance(v.decision_curve(pandas.Series(y), p).to_frame(), pandas.DataFrame)
    for data in (y, y.tolist()):
        assert type(v.cox_test(data, p).to_frame()).__module__.startswith("polars")


def test_the_library_is_no_part_of_the_result():
    pandas = needed("pandas")
    y, p = binary(300)
    plain, framed = v.decompose(y, p), v.decompose(pandas.Series(y), pandas.Series(p))
    assert plain == framed
    assert plain.to_dict() == framed.to_dict()


# Functions that take no rows, or answer with what is not a table of results.
_WITHOUT_ROWS = {
    "summary_curve",
    "detectable_error",
    "required_sample_size",
    "allocate",
    "merge_stores",
}


def test_every_function_of_rows_answers_in_kind():
    kinds = {name for name in HOMES if inspect.isclass(getattr(v, name))}
    kinds = {name for name in kinds if issubclass(getattr(v, name), Result)}
    for name in HOMES:
        function = getattr(v, name)
        if inspect.isfunction(function) and function.__annotations__.get("return") in kinds:
            if HOMES[name] in ("planning", "report") or name in _WITHOUT_ROWS:
                continue
            assert hasattr(function, "__wrapped__"), name


def test_warnings_point_at_the_line_of_the_user():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        v.reliability_curve(np.zeros(40, int), np.linspace(0.1, 0.9, 40), labels=[0, 1])
        v.evaluate(np.zeros(40, int), np.linspace(0.1, 0.9, 40), labels=[0, 1], n_resamples=20)
    assert caught
    assert {each.filename for each in caught} == {__file__}
