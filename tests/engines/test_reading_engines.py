"""Scales, blanks and rounded rows, read by every engine as they are in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engines.engine_frames import CHEAP, ENGINES
from scipy.special import softmax

from veridical._core.data.reading import Reading
from veridical.frames._grid.grid import grid_table

N = 120
RNG = np.random.default_rng(3)
Z = RNG.normal(0, 3, (N, 3))
SHARE = softmax(Z, axis=1)
CODE = RNG.integers(0, 3, N)
OPTIONS: dict[str, Any] = {"problems": ["confidence"], "n_bins": 5, "caller": "f"}
NAMES = ["p_0", "p_1", "p_2"]


def _columns(values: np.ndarray) -> dict[str, np.ndarray]:
    return {"y": CODE, **{name: values[:, k] for k, name in enumerate(NAMES)}}


def _brier(p: np.ndarray, rows: Any = slice(None)) -> float:
    return float(((p - np.eye(3)[CODE]) ** 2)[rows].sum())


@pytest.mark.parametrize("engine", ENGINES)
def test_three_columns_are_read_as_asked(engine: str, frame_of: Any) -> None:
    gaps = 100 * SHARE
    gaps[[4, 9], [0, 2]] = np.nan
    left = np.setdiff1d(np.arange(N), [4, 9])
    frame = frame_of(engine, _columns(gaps))
    reading = Reading("percent", "drop")
    table = grid_table(frame, y="y", prob=NAMES, reading=reading, **OPTIONS)
    assert table.rows.tolist() == [N - 2]
    assert table.scores["brier"][0] == pytest.approx(_brier(SHARE, left), rel=1e-12)
    assert table.notes[0] == "2 of 120 rows dropped: 1 without 'p_0', 1 without 'p_2'"


@pytest.mark.parametrize("engine", CHEAP)
@pytest.mark.parametrize("how", ["logit", "logprob", "normalize", "rounded"])
def test_other_conversions_are_those_in_memory(engine: str, how: str, frame_of: Any) -> None:
    given, reading, expected = {
        "logit": (Z, Reading("logit"), SHARE),
        "logprob": (np.log(SHARE), Reading("logprob"), SHARE),
        "normalize": (3 * SHARE, Reading(normalize=True), SHARE),
        "rounded": (SHARE.round(2), Reading(), SHARE.round(2)),
    }[how]
    table = grid_table(
        frame_of(engine, _columns(given)), y="y", prob=NAMES, reading=reading, **OPTIONS
    )
    assert table.scores["brier"][0] == pytest.approx(_brier(expected), rel=1e-12)
    assert len(table.notes) == 1


@pytest.mark.parametrize("engine", CHEAP)
def test_logits_of_one_column(engine: str, frame_of: Any) -> None:
    z = np.concatenate([Z[:-2, 0], [800.0, -800.0]])
    y = (CODE > 0).astype(np.int64)
    p = np.exp(-np.logaddexp(0, -z))
    options = OPTIONS | {"problems": ["binary"]}
    table = grid_table(
        frame_of(engine, {"y": y, "p": z}), y="y", prob="p", reading=Reading("logit"), **options
    )
    assert table.scores["brier"][0] == pytest.approx(float(((p - y) ** 2).sum()), rel=1e-12)
