"""Every example that `--help` shows runs, on files that have the columns it names."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from installed import Shell

from veridical.cli.main import _COMMANDS

ANSWERS = {"check": (0, 1, 3), "monitor": (0, 3), "test": (0, 3)}
# Examples that cannot run here, each with its reason.
NOT_RUN = {
    "veridical monitor status 'postgresql://me@example.org/models?schema=churn'":
        "needs a server of that name; tests/monitoring use a real one",
    "veridical experiment evaluating --data network.npz -o pages": "needs a network's outputs",
    "veridical experiment all --quick -o pages": "takes minutes; tests/experiments run each",
    "veridical experiment survey-toy --quick": "takes half a minute; tests/experiments run it",
    "source <(veridical completion zsh)": "needs zsh",
}  # fmt: skip
N = 300


def test_markers_are_few_and_needed() -> None:
    assert len(NOT_RUN) <= 10


def _examples(text: str) -> list[str]:
    shown = text.partition("\nexamples:\n")[2].partition("\n\n")[0].replace("\\\n", " ")
    lines = [re.sub(r" {2,}", " ", line.split("  #")[0]).strip() for line in shown.splitlines()]
    return [line for line in lines if line]


def _scores(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    p = rng.dirichlet(np.ones(n_classes), N)
    truth = (p**3 / (p**3).sum(axis=1, keepdims=True)).cumsum(axis=1)  # worth recalibrating
    label = (rng.random(N)[:, None] > truth).sum(axis=1).clip(max=n_classes - 1)
    return label, p


def _options(words: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairwise(words):
        if name.startswith("--"):
            found.setdefault(name, []).append(value)
    return found


def _frame(words: list[str]) -> pl.DataFrame:
    """Rows with the columns that an example names: `--prob 'p_*'` means three classes."""
    options = _options(words)
    rng = np.random.default_rng(9)
    asked = [c for value in options.get("--prob", []) for c in value.split(",")]
    models = [value.partition("=")[2] for value in options.get("--model", [])]
    asked += [*models, *options.get("--against-column", [])] or ([] if asked else ["p"])
    several = any("*" in name for name in asked)
    label, p = _scores(3 if several else 2)
    columns: dict[str, object] = {options.get("--y", ["label"])[0]: label}
    if "bad" in options.get("--pos-label", []):
        columns = {"Status": np.where(label == 1, "bad", "good")}
    logits = "logit" in options.get("--input", [])
    for name in asked:
        for k in range(3) if "*" in name else [1]:
            shown = np.log(p[:, k]) if logits else p[:, k]
            columns[name.replace("*", str(k))] = shown
    features = [f for value in options.get("--features", []) for f in value.split(",")]
    for option in ("--by", "--groups", "--keep", "--id"):
        features += options.get(option, [])
    if words[1] == "audit" and not features:
        features = ["region"]
    for name in features:
        values = np.arange(N) if name == "id" else rng.choice(["a", "b"], N)
        columns[name.replace("*", "1")] = values
    for option in ("--weight", "--label-prob"):
        for name in options.get(option, []):
            columns[name] = rng.uniform(0.5, 1, N)
    frame = pl.DataFrame(columns)
    if words[1] == "rate":  # only some rows have labels
        known = pl.when(pl.int_range(N) < 100).then(pl.col("label"))
        return frame.with_columns(known.alias("label"))
    return frame


def _prepare(shell: Shell, command: str) -> None:
    """Write the files that an example reads, unless an example before has written them."""
    words = shlex.split(command)
    frame = _frame(words)
    folder = shell.folder
    for word in words[2:]:
        path = folder / word.replace("*", "1")
        if word.startswith("-") or "://" in word or (path.exists() and path.suffix == ".sqlite"):
            continue
        if word == "costs.csv":
            pl.DataFrame({"class": [0, 1, 2], "a": [0, 1, 2], "b": [2, 1, 0]}).write_csv(path)
        elif word == "outcomes.csv":
            pl.DataFrame({"id": np.arange(N), "label": _scores(2)[0]}).write_csv(path)
        elif word == "calibrator.json" and not path.exists():
            name = "score" if "score" in command else "p"
            label, p = _scores(2)
            pl.DataFrame({"label": label, name: p[:, 1]}).write_csv(folder / "fit.csv")
            shell.run("veridical calibrate fit.csv --method platt --folds 0 -o calibrator.json")
        elif word == "new.csv" and (folder / "scores.parquet").exists():
            _write(pl.read_parquet(folder / "scores.parquet"), path)
        elif path.suffix in (".csv", ".parquet", ".jsonl") and words[words.index(word) - 1] != "-o":
            _write(frame, path)
    if words[:2] == ["veridical", "monitor"] and words[2] != "init":
        for store in [word for word in words if word.endswith(".sqlite")]:
            if not (folder / store).exists():
                shell.run(f"veridical monitor init {store} --labels 0,1")
                _write(_frame(["veridical", "monitor"]), folder / "first.csv")
                shell.do(f"veridical monitor update {store} first.csv --y label --prob p")
    if words[:3] == ["veridical", "monitor", "switch"]:  # outcomes to judge the new version by
        shell.do(f"veridical monitor update {words[3]} first.csv --y label --prob p")
    notify = folder / "notify"
    notify.write_text("#!/bin/sh\ncat > /dev/null\n")
    notify.chmod(0o755)
    (folder / "data").mkdir(exist_ok=True)
    (folder / ".local/share/bash-completion/completions").mkdir(parents=True, exist_ok=True)
    (folder / ".config/fish/completions").mkdir(parents=True, exist_ok=True)


def _write(frame: pl.DataFrame, path: Path) -> None:
    writers = {".parquet": "write_parquet", ".jsonl": "write_ndjson"}
    getattr(frame, writers.get(path.suffix, "write_csv"))(path)


@pytest.mark.parametrize("name", _COMMANDS)
def test_examples_of_help_run(shell: Shell, name: str) -> None:
    examples = _examples(shell.run(f"veridical {name} --help"))
    assert examples
    for command in examples:
        if command in NOT_RUN or command.startswith("veridical studio"):
            continue  # test_streams.py starts the studio
        _prepare(shell, command)
        done = shell.do(command)
        told = f"exit code {done.code} of {command}\n{done.out}{done.err}"
        assert done.code in ANSWERS.get(name, (0,)), told
        assert "Traceback" not in done.err, told
        assert done.out or done.err or re.search("[<>]| -o ", command), told
        for path in re.findall(r"(?:-o|--json|--junit|--save-baseline) (\S+)", command):
            assert (shell.folder / path).stat().st_size > 0, told
