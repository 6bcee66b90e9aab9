"""Features as codes, segments as conjunctions: against masks over rows."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

from veridical._core.data.features import Feature, Features, fit_features
from veridical._core.data.schema import Place
from veridical._core.data.segments import cross, find_segments
from veridical.exceptions import InvalidInputError


def fit(column, **options):
    [feature] = fit_features({"x": column}, caller="f", **options)
    return feature


def test_numbers_are_cut_into_parts_of_about_equal_size():
    x = np.random.default_rng(0).normal(size=1000)
    feature = fit(x, n_bins=4)
    counts = np.bincount(feature.codes(x, caller="f"), minlength=feature.n_codes)
    assert feature.n_named == 4
    assert counts[:4].sum() == 1000
    assert abs(counts[:4] - 250).max() <= 20  # edges have few digits


def test_equal_values_stay_together_and_the_largest_can_be_most_of_the_rows():
    x = np.concatenate([np.arange(20), np.full(300, 20)])
    feature = fit(x)
    assert feature.edges == (19.0,)
    assert feature.words(1) == "x 20 or more"


def test_a_count_is_as_so_many_rows():
    rng = np.random.default_rng(1)
    x = np.round(rng.normal(size=200), 2)
    counts = rng.integers(1, 6, size=200)
    assert fit(x, counts=counts.astype(float)) == fit(np.repeat(x, counts))
    text = rng.choice(list("abcdefghijklmnopqrstuvw"), size=200)
    assert fit(text, counts=counts.astype(float)) == fit(np.repeat(text, counts))


def test_few_numbers_and_the_commonest_texts_are_kept():
    assert fit([3, 1, 2, 1]).values == (1.0, 2.0, 3.0)
    text = list("aaabbbccccdd") + [f"rare {i}" for i in range(30)]
    feature = fit(text, n_values=4)
    assert set(feature.values) == {"a", "b", "c", "d"}
    assert feature.codes(["d", "rare 3", "new", None, " "], caller="f").tolist() == [3, 4, 4, 5, 5]
    assert [feature.words(code) for code in (3, 4, 5)] == ["x = d", "x other", "x missing"]


def test_truth_values_and_dates_have_names():
    feature = fit([True, False, None])
    assert [feature.words(code) for code in range(2)] == ["x = False", "x = True"]
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=k) for k in range(100)]
    feature = fit(days, n_bins=2)
    assert feature.words(0) == "x up to 2024-02-19"
    stamps = np.array(days, dtype="datetime64[ns]")
    assert (feature.codes(stamps, caller="f") == feature.codes(days, caller="f")).all()


def test_infinite_numbers_are_at_the_ends():
    x = np.concatenate([np.linspace(0, 1, 50), [np.inf, -np.inf]])
    feature = fit(x, n_bins=2)
    assert feature.codes([np.inf, -np.inf], caller="f").tolist() == [1, 0]
    assert fit([0.0, np.inf]).codes([np.inf], caller="f").tolist() == [1]  # another value


@pytest.mark.parametrize(("column", "other"), [([1.5, 2.5], ["a", "b"]), (["a", "b"], [1.5, 2.5])])
def test_a_column_of_another_kind_is_an_error(column, other):
    with pytest.raises(InvalidInputError, match="column 'x'"):
        fit(column).codes(other, caller="f")


def test_mixed_columns_other_lengths_and_missing_columns_are_errors():
    with pytest.raises(InvalidInputError, match="of one kind in column 'x'"):
        fit(np.array(["a", 1], dtype=object))
    with pytest.raises(InvalidInputError, match="equal length"):
        fit_features({"a": [1, 2], "b": [1]}, caller="f")
    with pytest.raises(InvalidInputError, match="with a column 'x'"):
        Features((fit([1, 2]),)).codes({"y": [1]}, caller="f")


def test_features_survive_json():
    rng = np.random.default_rng(2)
    columns = {
        "n": rng.normal(size=50),
        "few": rng.integers(0, 3, size=50),
        "t": rng.choice(["ä", "b c"], size=50),
        "d": np.arange(50).astype("datetime64[D]"),
        "b": rng.random(50) < 0.5,
    }
    features = fit_features(columns, caller="f")
    back = Features.from_dict(json.loads(json.dumps(features.to_dict())), Place("load"))
    assert back == features


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "vector"},
        {"values": ["a", "a"]},
        {"values": [1.0]},
        {"edges": [1.0]},
        {"whole": 1},
        {"name": 3},
        {"more": 1},
    ],
)
def test_what_is_read_is_checked(change):
    good = Feature("x", "text", values=("a", "b")).to_dict()
    with pytest.raises(InvalidInputError):
        Features.from_dict({"features": [good | change]}, Place("load"))


def naive_segments(codes, depth, min_rows):
    found = {(): len(codes)}
    kept = {(): len(codes)}
    n_features = codes.shape[1]
    for length in range(1, depth + 1):
        for features in combinations(range(n_features), length):
            for values in product(*(np.unique(codes[:, k]) for k in features)):
                mask = (codes[:, features] == values).all(axis=1)
                parts = tuple(zip(features, map(int, values), strict=True))
                found[parts] = int(mask.sum())
                shorter = [found[each] for each in combinations(parts, length - 1)]
                if found[parts] >= min_rows and found[parts] < min(shorter):
                    kept[parts] = found[parts]
    return kept


@pytest.mark.parametrize("table", [True, False])
def test_segments_are_those_of_masks(monkeypatch, table):
    if not table:
        monkeypatch.setattr("veridical._core.data.segments._TABLE", 1)
        monkeypatch.setattr("veridical._core.data.segments._LARGEST", 20)
    rng = np.random.default_rng(3)
    codes = rng.integers(0, [2, 3, 5, 1], size=(300, 4))
    codes[:, 1] = np.where(codes[:, 0] == 0, 2, codes[:, 1])  # some conjunctions say no more
    n_codes = [4, 5, 7, 3]
    cells = cross(codes, n_codes)
    assert Counter(map(tuple, codes.tolist())) == {
        tuple(key): count for key, count in zip(cells.codes.tolist(), cells.rows, strict=True)
    }
    assert (cells.codes[cells.place] == codes).all()
    segments = find_segments(cells.codes, cells.rows, n_codes, depth=3, min_rows=12)
    assert dict(zip(segments.parts, segments.rows, strict=True)) == naive_segments(codes, 3, 12)
    member = segments.of(codes)
    for number, parts in enumerate(segments.parts):
        mask = np.ones(len(codes), dtype=bool)
        for k, code in parts:
            mask &= codes[:, k] == code
        assert ((member == number).any(axis=1) == mask).all()
    assert (segments.of(np.full((1, 4), 2)) >= 0).sum() < len(segments.feature_sets)  # unseen
