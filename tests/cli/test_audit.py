"""``veridical audit``, and segments in other commands."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from veridical import audit_segments
from veridical.cli import main


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    sex, region = rng.choice(["f", "m"], 1500), rng.choice(["N", "S", ""], 1500)
    p = rng.beta(2, 2, 1500)
    y = rng.random(1500) < np.where((sex == "f") & (region == "S"), p**2, p)
    words = np.where(y, "yes", "no")
    frame = pl.DataFrame({"id": range(1500), "sex": sex, "region": region, "won": words, "p": p})
    frame.write_csv(tmp_path / "rows.csv")
    return str(tmp_path / "rows.csv")


def test_a_file_is_searched(path, capsys):
    assert main(["audit", path, "--features", "*,!id", "--n-resamples", "99"]) == 0
    printed = capsys.readouterr().out
    assert "sex = f, region = S" in printed
    assert "predictions of won = 'yes'" in printed
    assert "region missing" in printed
    assert "id" not in printed.split("guessed")[0]


def test_forms_files_and_exit_codes(path, tmp_path, capsys):
    out = tmp_path / "audit.json"
    asked = ["audit", path, "--y", "won", "--prob", "p", "--features", "sex,region"]
    asked += ["--n-resamples", "99", "--depth", "1", "--min-rows", "100", "--lens", "binary"]
    assert main([*asked, "--format", "json", "-o", str(out), "--fail-if-found"]) == 3
    found = json.loads(out.read_text())
    expected = audit_segments(
        path, y="won", prob="p", features=["sex", "region"], depth=1, min_rows=100,
        n_resamples=99, rng=0,
    )  # fmt: skip
    assert found["pvalue"] == expected.pvalue
    assert found["n_segments"] == expected.n_segments == 6
    assert main([*asked, "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("name,")
    assert main(["audit", path, "--features", "agee"]) == 2
    assert "--features" in capsys.readouterr().err


def test_evaluate_and_check_search_too(path, capsys):
    assert main(["evaluate", path, "--by", "auto", "--n-resamples", "99"]) == 0
    assert "At least one segment is miscalibrated" in capsys.readouterr().out
    rule = ["--require", "segments.worst.high < 0.5", "--features", "sex", "--min-rows", "200"]
    assert main(["check", path, *rule, "--n-resamples", "99"]) == 0
    assert "segments of at least 200 rows (sex" in " ".join(capsys.readouterr().out.split())
