"""`veridical monitor`: every subcommand, exit codes 0, 2 and 3, hostile names, standard input."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from veridical.cli import main
from veridical.monitoring import CalibrationMonitor
from veridical.report._monitor.monitor import MonitorReport
from veridical.results.monitoring import (
    MonitorStatus,
    MonitorVersions,
    RefitSuggestion,
    ShadowStatus,
)

STORE = "store.sqlite"
HOSTILE = ('a"b\\c\nd', "</script><script>alert(1)</script>", "=1+1", "x" * 300, "{,}")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    p = rng.random(1500).round(4)
    frame = pl.DataFrame(
        {
            "id": np.arange(1500),
            "label": (rng.random(1500) < p).astype(int),
            "p": p,
            "region": np.array(HOSTILE)[np.arange(1500) % 5],
        }
    )
    frame.write_csv("good.csv")
    frame.with_columns(label=(rng.random(1500) < p**3).astype(int)).write_csv("bad.csv")
    return tmp_path


def run(capsys, *arguments):
    try:
        code = main(["monitor", *map(str, arguments)])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_map_that_learns_is_part_of_the_status(capsys):
    assert run(capsys, "init", STORE, "--online")[0] == 0
    for name in ("good.csv", "bad.csv"):
        run(capsys, "update", STORE, name, "--y", "label", "--prob", "p")
    out = run(capsys, "status", STORE)[1]
    assert "Online map, learning since batch 0" in " ".join(out.split())
    found = json.loads(run(capsys, "status", STORE, "--format", "json")[1])
    assert found["online"]["n_rows"] == 3000
    assert "veridical_online_rows 3000" in run(capsys, "status", STORE, "--format", "prometheus")[1]


def test_what_is_not_asked_for_is_as_a_new_store_has_it(capsys):
    code, out, _ = run(capsys, "init", STORE, "--window", "700")
    assert code == 0
    assert out == "store.sqlite: ready, false alarms ever with probability 0.05\n"
    with CalibrationMonitor(STORE) as monitor:
        assert (monitor.settings["window"], monitor.settings["half_life"]) == (700, 5000)


def test_a_store_is_made_once(capsys):
    code, out, _ = run(capsys, "init", STORE, "--level", "0.01")
    assert code == 0
    assert out == "store.sqlite: ready, false alarms ever with probability 0.01\n"
    code, _, err = run(capsys, "init", STORE)
    assert code == 2
    assert "go on with `veridical monitor update`" in err
    assert run(capsys, "update", STORE, "good.csv")[0] == 0
    status = MonitorStatus.from_json(run(capsys, "status", STORE, "--format", "json")[1])
    assert status.level == 0.01


def test_the_exit_code_says_whether_there_is_an_alarm(capsys):
    run(capsys, "init", STORE)
    code, out, _ = run(capsys, "update", STORE, "good.csv", "--timestamp", "2026-03-01")
    assert code == 0
    assert out.startswith("1,500 rows; 1,500 in all: no alarm, e = ")
    code, out, _ = run(capsys, "update", STORE, "bad.csv", "--timestamp", "2026-03-02")
    assert code == 3
    assert "ALARM" in out
    code, out, _ = run(capsys, "status", STORE)
    assert code == 3
    assert out.startswith("Alarm at 2026-03-02: ")
    assert "predictions too high" in out
    assert "since about 2026-03-02" in out


def test_a_batch_sent_again_counts_once(capsys):
    run(capsys, "init", STORE)
    named = ("update", STORE, "good.csv", "--batch-id", "monday")
    assert run(capsys, *named)[0] == 0
    code, out, _ = run(capsys, *named)
    assert code == 0
    assert "sent before and not counted again; 1,500 in all" in out
    code, _, err = run(capsys, "update", STORE, "bad.csv", "--batch-id", "monday")
    assert code == 2
    assert "other data under the known name 'monday'" in err


def test_rows_may_come_by_standard_input(capsys, monkeypatch):
    run(capsys, "init", STORE)

    class _Input:
        buffer = io.BytesIO(Path("good.csv").read_bytes())

    monkeypatch.setattr(sys, "stdin", _Input())
    code, out, _ = run(capsys, "update", STORE, "-", "--y", "label", "--prob", "p")
    assert (code, out.split(";")[0]) == (0, "1,500 rows")


def test_outcomes_may_come_later(capsys):
    run(capsys, "init", STORE, "--labels", "0,1")
    observe = ("observe", STORE, "good.csv", "--id", "id", "--prob", "p", "--by", "region")
    assert run(capsys, *observe, "--timestamp", "2026-03-01")[:2] == (
        0, "1,500 predictions registered\n",
    )  # fmt: skip
    frame = pl.read_csv("good.csv")
    frame[:1000].write_csv("early.csv")
    frame.filter(pl.col("label") == 1)[-100:].write_csv("frauds.csv")
    resolve = ("--id", "id", "--y", "label")
    code, out, _ = run(capsys, "resolve", STORE, "early.csv", *resolve)
    assert code == 0
    assert "0 in all" in out
    _, out, _ = run(capsys, "status", STORE)
    assert "500 predictions wait for their outcomes, the oldest since 2026-03-01" in out
    run(capsys, "resolve", STORE, "frauds.csv", *resolve)
    code, out, _ = run(capsys, "mature", STORE, "2026-03-01", "--missing", "0")
    assert "1,500 in all" in out
    assert code in (0, 3)
    _, out, _ = run(capsys, "status", STORE)
    assert "wait for" not in out


@pytest.mark.parametrize("form", ["text", "json", "csv", "prometheus"])
def test_names_of_groups_are_only_names(capsys, form):
    run(capsys, "init", STORE)
    run(capsys, "update", STORE, "good.csv", "--by", "region")
    code, out, _ = run(capsys, "status", STORE, "--format", form)
    assert code == 0
    if form == "json":
        names = {s["name"] for s in json.loads(out)["streams"] if s["family"] == "group"}
        assert names == {repr(name) for name in HOSTILE}
    if form == "csv":
        frame = pl.read_csv(io.StringIO(out))
        assert set(frame.filter(pl.col("family") == "group")["name"]) == {
            repr(name) for name in HOSTILE
        }
    if form == "prometheus":
        line = re.compile(
            r"^(# (HELP|TYPE) veridical_\w+ .*|veridical_\w+"
            r'(\{\w+="([^"\\\n]|\\["\\n])*"(,\w+="([^"\\\n]|\\["\\n])*")*\})? \S+)$'
        )
        assert all(line.match(each) for each in out.splitlines())
        assert "veridical_rows 1500.0" in out.splitlines()


def test_the_status_goes_to_a_file_but_never_over_the_store(capsys):
    run(capsys, "init", STORE)
    run(capsys, "update", STORE, "good.csv")
    code, out, _ = run(capsys, "status", STORE, "--format", "prometheus", "-o", "m.prom")
    assert (code, out) == (0, "")
    assert Path("m.prom").read_text().startswith("# HELP veridical_rows")
    before = Path(STORE).read_bytes()
    code, _, err = run(capsys, "status", STORE, "-o", STORE)
    assert code == 2
    assert "nothing is written over a store" in err
    assert Path(STORE).read_bytes() == before


def test_stores_are_looked_at_together(capsys):
    for name, data in (("n.sqlite", "good.csv"), ("s.sqlite", "bad.csv")):
        run(capsys, "init", name)
        run(capsys, "update", name, data)
    code, out, _ = run(capsys, "status", "n.sqlite", "s.sqlite", "--format", "json")
    assert code == 3
    status = MonitorStatus.from_json(out)
    assert (status.n_samples, status.n_batches) == (3000, 2)
    assert "'s.sqlite'" in status.verdict
    code, _, err = run(capsys, "status", "n.sqlite", "./n.sqlite")
    assert code == 2
    assert "count twice" in err


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_a_page_is_written_by_its_suffix(capsys, suffix):
    run(capsys, "init", STORE)
    run(capsys, "update", STORE, "bad.csv", "--by", "region")
    target = Path(f"page.{suffix}")
    code, out, err = run(capsys, "report", STORE, "-o", target, "--title", "Spring <b>")
    assert code == 3
    assert out.startswith("Alarm at batch 0: ")
    assert err.splitlines()[-1] == f"veridical: wrote page.{suffix}"
    text = target.read_text()
    if suffix == "html":
        assert "<title>Spring &lt;b&gt;</title>" in text
        assert "<script>alert" not in text
    elif suffix == "md":
        assert text.startswith("# Spring \\<b\\>")
    else:
        assert MonitorReport.from_json(text).title == "Spring <b>"


def test_a_page_that_is_written_over_is_compared_with(capsys):
    run(capsys, "init", STORE)
    run(capsys, "update", STORE, "good.csv")
    Path("page.html").write_text("<p>not a page of a monitor</p>")
    assert run(capsys, "report", STORE, "-o", "page.html")[0] == 0
    assert "Since the last look" not in Path("page.html").read_text()
    run(capsys, "update", STORE, "bad.csv")
    assert run(capsys, "report", STORE, "-o", "new.html", "--since", "page.html")[0] == 3
    assert run(capsys, "report", STORE, "-o", "page.html")[0] == 3
    for name in ("page.html", "new.html"):
        assert "There is an alarm that was not there before." in Path(name).read_text()
    assert run(capsys, "report", STORE, "-o", "x.html", "--since", "bad.csv")[0] == 2


def test_a_promise_of_another_command_is_watched(capsys):
    decide = ["decide", "good.csv", "--y", "label", "--prob", "p", "--at-most", "0.3"]
    assert main([*decide, "--format", "json"]) == 0
    Path("promise.json").write_text(capsys.readouterr().out)
    run(capsys, "init", STORE, "--labels", "0,1")
    code, out, _ = run(capsys, "watch", STORE, "--risk", "promise.json", "--require", "ece < 0.3")
    assert code == 0
    assert out.count("Not shown: no row was answered") == 2
    code, _, err = run(capsys, "watch", STORE, "--risk", "good.csv")
    assert code == 2
    assert "JSON of a promise" in err
    run(capsys, "update", STORE, "good.csv")
    code, out, _ = run(capsys, "watch", STORE, "--format", "json")
    assert code == 0
    assert [each["requirement"] for each in json.loads(out)] == ["ece < 0.3", ""]
    assert json.loads(run(capsys, "watch", STORE, "--none", "--format", "json")[1]) == []


def test_maps_are_fitted_tried_used_and_taken_back(capsys):
    run(capsys, "init", STORE)
    run(capsys, "update", STORE, "bad.csv", "--timestamp", "2026-03-01")
    code, out, _ = run(capsys, "refit", STORE, "--calibrator", "beta", "--format", "json")
    assert code == 0
    assert RefitSuggestion.from_json(out).version == 1
    code, _, err = run(capsys, "switch", STORE)
    assert code == 2
    assert "too little evidence for version 1" in err
    run(capsys, "update", STORE, "bad.csv", "--timestamp", "2026-03-02")
    code, out, _ = run(capsys, "trial", STORE, "--format", "json")
    assert code == 0
    assert ShadowStatus.from_json(out).n_rows == 1500
    code, out, _ = run(capsys, "switch", STORE, "--force")
    assert code == 0
    assert out.startswith("In use: version 1")
    assert run(capsys, "status", STORE)[0] == 0  # a new epoch, without an alarm so far
    run(capsys, "update", STORE, "bad.csv", "--timestamp", "2026-03-03")
    run(capsys, "report", STORE, "-o", "page.md")
    page = Path("page.md").read_text()
    assert "In use: version 1." in page
    assert "Alarm at 2026-03-01" in page
    code, out, _ = run(capsys, "rollback", STORE)
    assert code == 0
    assert out.startswith("In use: the predictions as they come")
    code, out, _ = run(capsys, "versions", STORE, "--format", "json")
    assert [v.state for v in MonitorVersions.from_json(out).versions] == ["withdrawn"]
    assert run(capsys, "rollback", STORE)[0] == 2


def test_signals_need_no_outcomes(capsys):
    run(capsys, "init", STORE, "--labels", "0,1")
    run(capsys, "update", STORE, "good.csv")
    assert run(capsys, "signals", STORE)[0] == 2  # nothing waits
    run(capsys, "observe", STORE, "bad.csv", "--id", "id", "--prob", "p")
    code, out, _ = run(capsys, "signals", STORE)
    assert code == 0
    assert out.startswith("1,500 predictions wait for outcomes")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["update", "absent.sqlite", "good.csv"], "monitor init absent.sqlite"),
        (["status", "absent.sqlite"], "an existing store"),
        (["status", "good.csv"], "is not a monitor's store"),
        (["status", STORE, "absent.sqlite"], "existing stores"),
        (["report", STORE, "-o", "page.pdf"], "ends in .html, .md or .json"),
        (["update", STORE, "absent.csv"], "absent.csv"),
        (["update", STORE, "good.csv", "--prob", "q"], "q"),
        (["observe", STORE, "good.csv", "--id", "id"], "name the columns of predictions"),
        (["mature", STORE, "2026-01-01", "--missing", "7"], "one of the classes"),
        (["init", "new.sqlite", "--level", "2"], "level"),
        (["refit", STORE, "--calibrator", "betta"], "knows its classes"),
        (["trial", STORE], "call `refit` first"),
        (["versions", "absent.sqlite"], "an existing store"),
        (["whatever"], "invalid choice"),
    ],
)  # fmt: skip
def test_bad_input_is_told_in_a_line_with_exit_code_2(capsys, arguments, message):
    run(capsys, "init", STORE)
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err
    assert not Path("absent.sqlite").exists()
