"""Segments of rows that stay in their engine: the same as those of rows in memory."""

from __future__ import annotations

import numpy as np
import pytest
from engines.engine_frames import ENGINES, make_frame

from veridical import InvalidInputError, audit_segments


def columns(n=600, seed=0):
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n)
    return {
        "text": rng.choice(np.array(["a", "b c", "d'e", None], dtype=object), n),
        "whole": rng.integers(0, 40, n),
        "number": number,
        "flag": rng.random(n) < 0.4,
        "y": rng.choice(np.array(["no", "yes"], dtype=object), n),
        "p": np.round(rng.random(n), 1),
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_counts_the_same_rows(engine, request):
    data = columns()
    asked = {"y": "y", "prob": "p", "min_rows": 30, "n_resamples": 19, "rng": 0}
    expected = audit_segments(make_frame("polars", data, None), engine="memory", **asked)
    frame = make_frame(engine, data, request.getfixturevalue)
    found = audit_segments(frame, engine="pushdown", **asked)
    assert found.event == expected.event == "y = 'yes'"
    assert found.n_segments == expected.n_segments > 60

    known = {each.name: each for each in expected.segments}
    assert {each.name for each in found.segments} == known.keys()
    for each in found.segments:
        assert each.n_samples == known[each.name].n_samples
        assert each.statistic == pytest.approx(known[each.name].statistic, abs=1e-9)
    assert found.pvalue == expected.pvalue
    assert "cut at quantiles of 600 rows" in found.notes[0]


def test_bad_rows_and_what_sums_do_not_answer_are_said():
    data = columns(200)
    bad = make_frame("polars-lazy", data | {"p": np.where(np.arange(200) == 3, 1.5, 0.5)}, None)
    with pytest.raises(InvalidInputError, match="1 rows with another or none"):
        audit_segments(bad, y="y", prob="p")
    lazy = make_frame("polars-lazy", data, None)
    with pytest.raises(InvalidInputError, match="no weights and no groups"):
        audit_segments(lazy, y="y", prob="p", sample_weight="whole", engine="pushdown")
    read = audit_segments(lazy, y="y", prob="p", groups="whole", n_resamples=19, rng=0)
    assert "together within 40 groups" in read.null  # read into memory
    with pytest.raises(InvalidInputError, match="engine"):
        audit_segments(lazy, y="y", prob="p", engine="cloud")


def test_a_date_is_read_into_memory():
    import polars as pl

    data = pl.DataFrame(columns(200)).with_columns(
        day=pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 7, 18), eager=True)
    )
    found = audit_segments(data.lazy(), y="y", prob="p", features="day", n_resamples=19, rng=0)
    assert any("2024-02" in each.name for each in found.segments)
