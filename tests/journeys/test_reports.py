"""Every command that a report prints does what the report says, typed as it stands there."""

from __future__ import annotations

import html
import json
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from installed import Shell

import veridical


def _two(n: int = 400, base: float = 0.5) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    p = rng.beta(2 * base, 2 * (1 - base), n).round(3)
    truth = np.clip(p, 0.001, 0.999)
    truth = truth**2 / (truth**2 + (1 - truth) ** 2)
    return {"label": (rng.random(n) < truth).astype(int), "p": p}


def _three(n: int = 400) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.ones(3), n).round(6)
    p[:, 2] = 1 - p[:, 0] - p[:, 1]
    truth = (p**2 / (p**2).sum(axis=1, keepdims=True)).cumsum(axis=1)
    label = (rng.random(n)[:, None] > truth).sum(axis=1).clip(max=2)
    return {"label": label, **{f"p_{k}": p[:, k] for k in range(3)}}


def _several() -> dict[str, np.ndarray]:
    two = _two()
    return {"label": two["label"], "p_rf": two["p"], "p_gb": (two["p"] + 0.5) / 2}


CASES = {
    "two classes": ("mo del's ü.csv", _two, ""),
    "three classes": ("three.csv", _three, ""),
    "rare events": ("rare.csv", lambda: _two(1500, 0.03), ""),
    "several models": ("models.csv", _several, "--model forest=p_rf --model boosting=p_gb"),
    "calibrated": ("calm.csv", None, ""),
}


def _calibrated() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    p = rng.beta(1, 1, 400).round(3)
    return {"label": (rng.random(400) < p).astype(int), "p": p}


def _commands(page: Path) -> list[str]:
    """Lines of the blocks of commands, as a browser copies them."""
    blocks = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page.read_text(), flags=re.DOTALL)
    lines = [line for block in blocks for line in html.unescape(block).splitlines()]
    return [line for line in lines if line.startswith("veridical ")]


@pytest.mark.parametrize("case", CASES)
def test_commands_of_a_report(shell: Shell, case: str) -> None:
    name, rows, options = CASES[case]
    frame = pl.DataFrame((rows or _calibrated)())
    frame.write_csv(shell.folder / name)
    frame.write_csv(shell.folder / "today.csv")
    shell.run(f"veridical report {shlex.quote(name)} {options} -o report.html --json report.json")
    written = json.loads((shell.folder / "report.json").read_text())
    assert written
    commands = _commands(shell.folder / "report.html")
    assert len(commands) >= 3, commands
    for command in commands:
        done = shell.do(command)
        met = {0, 1, 3} if " check " in command else {0, 3} if " monitor " in command else {0}
        assert done.code in met, f"{command}\n{done.out}{done.err}"
        assert "Traceback" not in done.err
    calibrating = [c for c in commands if c.startswith("veridical calibrate ")]
    if case == "calibrated":
        assert not calibrating
        assert (shell.folder / "store.sqlite").exists()
    else:
        assert calibrating
        columns = ["p_0", "p_1", "p_2"] if case == "three classes" else frame.columns[1]
        p = frame[columns].to_numpy()
        (path,) = shell.folder.glob("map*.json")
        ours = veridical.AutoCalibrator().fit(p, frame["label"].to_numpy())
        theirs = veridical.load(path)
        np.testing.assert_allclose(theirs.predict_proba(p), ours.predict_proba(p), atol=1e-12)
