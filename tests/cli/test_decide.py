"""`veridical decide`: hand-checked costs, files of costs, refusals in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from veridical import risk_threshold
from veridical.calibrators import HistogramCalibrator, PlattCalibrator, TemperatureCalibrator
from veridical.cli import main
from veridical.export import save

COSTS = "class,treat,wait\nill,5,20\nwell,3,0\n"
COSTS_JSON = '{"treat": {"ill": 5, "well": 3}, "wait": {"ill": 20, "well": 0}}'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("four.csv").write_text("y,p\n0,0.5\n1,0.75\n0,0.25\n1,0.25\n")
    Path("ill.csv").write_text("id,state,p,p_well,p_ill\n01,well,0.1,0.9,0.1\n02,ill,0.3,0.7,0.3\n")
    Path("costs.csv").write_text(COSTS)
    Path("costs.json").write_text(COSTS_JSON)
    return tmp_path


def run(capsys, *arguments):
    """Exit code, standard output and standard error; anything but SystemExit is a traceback."""
    try:
        code = main(["decide", *map(str, arguments)])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def found(capsys, *arguments):
    code, out, err = run(capsys, *arguments, "--format", "json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_costs_of_four_rows_by_hand(capsys):
    # Alarm above 1/3: two alarms promise (0.5 + 0.25) / 2, two silences 2 * 0.25 each.
    result = found(capsys, "four.csv", "--prob", "p", "--cost-fp", 1, "--cost-fn", 2)
    assert result["actions"] == [0, 1]
    assert result["share"] == [0.5, 0.5]
    assert result["mean_expected_cost"] == pytest.approx((0.5 + 0.25 + 0.5 + 0.5) / 4)
    assert result["threshold"] == pytest.approx(1 / 3)
    assert result["expected_cost"] is None
    # One false alarm of cost 1 and one miss of cost 2.
    result = found(capsys, "four.csv", "--prob", "p", "--cost-fp", 1, "--cost-fn", 2, "--y", "y")
    assert result["expected_cost"]["realised"]["estimate"] == pytest.approx(3 / 4)
    assert result["expected_cost"]["predicted"]["estimate"] == pytest.approx(0.4375)
    assert result["miscalibration_cost"] is None
    assert "10 rows or more" in result["notes"][0]


def test_the_cost_of_miscalibration_by_hand(capsys):
    # Says 0.7 where 0.5 is right: at a threshold of 1.5 / 2.5 half of the rows pay 0.75, not 0.5.
    y = ([1, 0] * 5 + [1] + [0] * 9) * 100
    p = ([0.7] * 10 + [0.3] * 10) * 100
    pl.DataFrame({"y": y, "p": p}).write_parquet("many.parquet")
    options = ["many.parquet", "--prob", "p", "--cost-fp", 1.5, "--cost-fn", 1, "--y", "y"]
    lost = found(capsys, *options)["miscalibration_cost"]
    assert lost["estimate"] == pytest.approx(0.125)
    assert lost["changed"] == pytest.approx(0.5)
    _, out, _ = run(capsys, *options)
    assert "2,000 decisions of expected cost" in out
    assert "positive above a probability of 0.6" in out
    assert "miscalibration costs 0.125 a decision" in out


@pytest.mark.parametrize("costs", ["costs.csv", "costs.json"])
@pytest.mark.parametrize(
    "options",
    [
        ["--prob", "p", "--pos-label", "ill"],
        ["--prob", "p_*"],
        ["--prob", "p_ill,p_well"],
        ["--prob", "p_*", "--labels", "well,ill"],
        ["--prob", "p", "--pos-label", "ill", "--y", "state"],
    ],
)
def test_costs_from_a_file(capsys, costs, options):
    # wait: 20 * 0.1 = 2 < 5 * 0.1 + 3 * 0.9 = 3.2; treat: 5 * 0.3 + 3 * 0.7 = 3.6 < 20 * 0.3 = 6.
    result = found(capsys, "ill.csv", "--costs", costs, *options, "-o", "out.csv")
    assert result["actions"] == ["treat", "wait"]
    assert result["mean_expected_cost"] == pytest.approx((2 + 3.6) / 2)
    table = pl.read_csv("out.csv", infer_schema=False)
    assert table.columns == ["id", "state", "p", "p_well", "p_ill", "action", "expected_cost"]
    assert table["id"].to_list() == ["01", "02"]
    assert table["action"].to_list() == ["wait", "treat"]
    assert [float(c) for c in table["expected_cost"]] == pytest.approx([2, 3.6])
    if "--y" in options:  # the well one waits at 0, the ill one is treated at 5
        assert result["expected_cost"]["realised"]["estimate"] == pytest.approx(2.5)


def test_numbers_as_classes_in_json_are_numbers(capsys):
    Path("numbers.json").write_text('{"no": {"0": 0, "1": 2}, "yes": {"0": 1, "1": 0}}')
    for options in ([], ["--y", "y"], ["--labels", "0,1"]):
        result = found(capsys, "four.csv", "--prob", "p", "--costs", "numbers.json", *options)
        assert result["mean_expected_cost"] == pytest.approx(0.4375)
        assert result["actions"] == ["no", "yes"]


def test_rows_may_be_left_open(capsys):
    # Costs of the best decisions are 0.5, 0.25, 0.5, 0.5: three are better left open at 0.4.
    result = found(
        capsys, "four.csv", "--prob", "p", "--cost-fp", 1, "--cost-fn", 2, "--abstain-cost", 0.4,
        "-o", "out.parquet", "--prefix", "my_",
    )  # fmt: skip
    assert result["actions"] == [0, 1, "abstain"]
    assert result["share"] == [0, 0.25, 0.75]
    table = pl.read_parquet("out.parquet")
    assert table["my_action"].to_list() == ["abstain", "1", "abstain", "abstain"]
    assert table["my_expected_cost"].to_list() == pytest.approx([0.4, 0.25, 0.4, 0.4])


def test_weights_count_in_costs(capsys):
    Path("w.csv").write_text("y,p,w\n0,0.5,0\n1,0.75,1\n0,0.25,1\n1,0.25,2\n")
    cost = found(
        capsys, "w.csv", "--prob", "p", "--cost-fp", 1, "--cost-fn", 2, "--y", "y", "--weight", "w"
    )["expected_cost"]
    assert cost["realised"]["estimate"] == pytest.approx(2 * 2 / 4)
    assert cost["predicted"]["estimate"] == pytest.approx((0.25 + 0.5 + 2 * 0.5) / 4)


PAIR = ["--cost-fp", "1", "--cost-fn", "2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["four.csv", *PAIR], "`--prob` must be given"),
        (["missing.csv", "--prob", "p", *PAIR], "an existing file"),
        (["four.csv", "--prob", "q", *PAIR], "`--prob` must be a column of the data"),
        (["four.csv", "--prob", "p", *PAIR, "--y", "state"], "`--y` must be a column of the data"),
        (["four.csv", "--prob", "p", *PAIR, "--weight", "p"], "`--weight` must be unset without"),
        (["four.csv", "--prob", "p"], "`--costs` must be given; got none"),
        (["four.csv", "--prob", "p", "--cost-fp", "1"], "got one of --cost-fp and --cost-fn"),
        (["four.csv", "--prob", "p", *PAIR, "--costs", "costs.csv"], "given in one way"),
        (["four.csv", "--prob", "p", "--cost-fp", "nan", "--cost-fn", "1"], "must be finite"),
        (["four.csv", "--prob", "p", *PAIR, "--abstain-cost", "inf"], "`--abstain-cost` must be"),
        (["four.csv", "--prob", "p", *PAIR, "--pos-label", "ill"], "one of the classes"),
        (["ill.csv", "--prob", "p", "--costs", "no.csv"], "`--costs` must be an existing file"),
        (["ill.csv", "--prob", "p", "--costs", "no.json"], "a readable file of costs"),
        (["ill.csv", "--prob", "p", "--costs", "bad.json"], "a readable file of costs"),
        (["ill.csv", "--prob", "p", "--costs", "list.json"], "no action with costs by class"),
        (["ill.csv", "--prob", "p", "--costs", "one.csv"], "a table of classes and actions"),
        (["ill.csv", "--prob", "p", "--costs", "twice.csv"], "one row for each class"),
        (["ill.csv", "--prob", "p", "--costs", "text.csv"], "`--costs` must be numeric"),
        (["four.csv", "--prob", "p", "--y", "y", "--costs", "costs.csv"],
         "a cost for each of the labels [0, 1]"),
        (["ill.csv", "--prob", "p,p_well", "--costs", "costs.csv"], "say which class each column"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line_and_writes_nothing(capsys, arguments, message):
    Path("bad.json").write_text('{"treat": {')
    Path("list.json").write_text('{"treat": [1, 2]}')
    Path("one.csv").write_text("class\nill\nwell\n")
    Path("twice.csv").write_text("class,treat\nill,1\nill,2\n")
    Path("text.csv").write_text("class,treat\nill,much\nwell,2\n")
    before = sorted(path.name for path in Path.cwd().iterdir())
    code, out, err = run(capsys, *arguments, "-o", "out.csv")
    assert (code, out) == (2, "")
    assert err.startswith("veridical")
    assert len(err.splitlines()) == 1, err
    assert message in err
    assert sorted(path.name for path in Path.cwd().iterdir()) == before


def test_outputs_that_must_not_or_cannot_be_written(capsys):
    for target, code in (("four.csv", 2), ("out.xlsx", 2), ("no/out.csv", 1)):
        before = Path("four.csv").read_text()
        found_code, _, err = run(capsys, "four.csv", "--prob", "p", *PAIR, "-o", target)
        assert found_code == code
        assert len(err.splitlines()) == 1
        assert Path("four.csv").read_text() == before
    Path("taken.csv").write_text("p,action\n0.5,x\n")
    code, _, err = run(capsys, "taken.csv", "--prob", "p", *PAIR, "-o", "out.csv")
    assert code == 2
    assert "choose other names with --prefix" in err


def test_a_single_column_named_after_a_class_is_about_that_class(capsys):
    Path("costs.csv").write_text("class,treat,wait\nill,5,20\nwell,3,0\n")
    Path("ill.csv").write_text("p_ill\n0.9\n0.1\n")
    result = found(capsys, "ill.csv", "--prob", "p_ill", "--costs", "costs.csv", "-o", "out.csv")
    assert pl.read_csv("out.csv")["action"].to_list() == ["treat", "wait"]
    assert result["notes"] == ["'p_ill' is taken for the probability of 'ill'"]


def test_a_single_column_of_another_name_says_which_class_it_is_taken_for(capsys):
    Path("costs.csv").write_text("class,treat,wait\nill,5,20\nwell,3,0\n")
    Path("p.csv").write_text("p\n0.9\n0.1\n")
    result = found(capsys, "p.csv", "--prob", "p", "--costs", "costs.csv")
    assert "probability of 'well', the larger label" in result["notes"][0]
    result = found(capsys, "p.csv", "--prob", "p", "--costs", "costs.csv", "--pos-label", "ill")
    assert result["notes"] == ["'p' is taken for the probability of 'ill'"]


def test_labels_in_descending_order_ask_for_the_positive_class(capsys):
    Path("p.csv").write_text("p\n0.9\n0.1\n")
    arguments = ["p.csv", "--prob", "p", *PAIR, "--labels", "well,ill"]
    assert main(["decide", *arguments]) == 2
    assert "`--pos-label` must be given for one column" in capsys.readouterr().err
    said = "'p' is taken for the probability of 'well'"
    assert found(capsys, *arguments, "--pos-label", "well")["notes"] == [said]


def _saved_map():
    """Log odds halved for 'ill', so that 0.8 is said where 4 : 1 squared, 16 / 17, is predicted."""
    map = PlattCalibrator(pos_label="ill").fit([0.1, 0.9, 0.2, 0.8], ["well", "ill", "well", "ill"])
    map.slope_, map.intercept_ = 0.5, 0.0
    map.feature_names_in_ = np.array(["p"])
    map.outcome_name_ = "state"
    save(map, "map.json")
    return map


def test_a_threshold_becomes_a_raw_cut_off(capsys):
    _saved_map()
    code, out, err = run(capsys, "--map", "map.json", "--threshold", 0.8)
    assert (code, err) == (0, "")
    assert "probability that state = ill is at least 0.8" in out
    result = found(capsys, "--map", "map.json", "--threshold", 0.8)
    assert result["cutoff"]["score"] == pytest.approx(16 / 17)
    # False positives four times as costly: the threshold is 0.8 again.
    result = found(capsys, "--map", "map.json", "--cost-fp", 4, "--cost-fn", 1)
    assert result["cutoff"]["score"] == pytest.approx(16 / 17)


def test_a_raw_cut_off_is_applied_to_a_file(capsys):
    _saved_map()
    Path("raw.csv").write_text("id,p\n1,0.95\n2,0.93\n3,0.1\n")
    result = found(capsys, "raw.csv", "--map", "map.json", "--threshold", 0.8, "-o", "out.csv")
    assert result["share"] == {"ill": pytest.approx(1 / 3), "well": pytest.approx(2 / 3)}
    table = pl.read_csv("out.csv")
    assert table.columns == ["id", "p", "action"]
    assert table["action"].to_list() == ["ill", "well", "well"]


def test_costs_decide_on_calibrated_probabilities(capsys):
    map = _saved_map()
    Path("raw.csv").write_text("id,p\n1,0.95\n2,0.93\n3,0.1\n")
    options = ["raw.csv", "--map", "map.json", "--cost-fp", 4, "--cost-fn", 1, "-o", "out.csv"]
    result = found(capsys, *options)
    p = map.predict_proba([0.95, 0.93, 0.1])[:, 0]
    cost = np.minimum(4 * (1 - p), p)
    assert result["mean_expected_cost"] == pytest.approx(cost.mean())
    assert result["cutoff"]["score"] == pytest.approx(16 / 17)
    assert pl.read_csv("out.csv")["action"].to_list() == ["ill", "well", "well"]
    _, out, _ = run(capsys, *options[:-2])
    assert "is at least 0.8 from a score of" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "`FILE` must be given"),
        (["--threshold", 0.2], "`FILE` must be given"),
        (["four.csv", "--prob", "p", "--threshold", 0.2], "`--threshold` must be given with --map"),
        (["--map", "map.json"], "`--threshold` must be given"),
        (["--map", "no.json", "--threshold", 0.2], "`--map` must be a file"),
        (["--map", "map.json", "--threshold", 2], "`--threshold` must be between 0 and 1"),
        (["--map", "map.json", "--threshold", 0.2, "--cost-fp", 1], "`--cost-fp` must be left out"),
        (["--map", "map.json", "--threshold", 0.2, "-o", "out.csv"], "`--output` must be left out"),
        (["--map", "map.json", "--costs", "costs.csv"], "`--costs` must be left out with no FILE"),
        (["ill.csv", "--map", "map.json", "--threshold", 0.2, "--prob", "p_*"], "one column"),
        (["big.csv", "--map", "map.json", "--threshold", 0.2], "must be in [0, 1]"),
        (["--map", "map.json", "--threshold", 0.2, "--pos-label", "well"], "`--pos-label` must be"),
    ],
)
def test_what_does_not_go_with_a_map_is_refused(capsys, options, message):
    _saved_map()
    Path("big.csv").write_text("p\n7\n")
    code, out, err = run(capsys, *options)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err


def test_a_map_of_three_classes_has_no_cut_off(capsys):
    p = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    save(TemperatureCalibrator().fit(p, np.arange(60) % 3), "three.json")
    code, out, err = run(capsys, "--map", "three.json", "--threshold", 0.2)
    assert (code, out) == (2, "")
    assert "`--map` must be a map of two classes; got one of 3" in err


def test_a_map_that_is_not_monotone_decides_row_by_row(capsys):
    p, y = [0.1, 0.1, 0.5, 0.5, 0.9, 0.9], [0, 0, 1, 1, 0, 0]
    map = HistogramCalibrator(n_bins=3).fit(p, y)  # (0 + 1)/4, (2 + 1)/4, (0 + 1)/4
    save(map, "hill.json")
    Path("raw.csv").write_text("p\n0.1\n0.5\n0.9\n")
    options = ["raw.csv", "--map", "hill.json", "--prob", "p", "--threshold", 0.7]
    code, out, err = run(capsys, *options, "-o", "out.csv")
    assert code == 0
    assert "not monotone" in out
    assert "rows were calibrated and compared with 0.7" in err
    assert pl.read_csv("out.csv")["action"].to_list() == [0, 1, 0]


def _answers(tmp_path, n=1500):
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.5, 0.4, 0.3], n)
    y = (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    table = {f"p_{c}": p[:, k] for k, c in enumerate("abc")}
    path = tmp_path / "three.csv"
    pl.DataFrame(table | {"label": np.array(list("abc"))[y], "doc": np.arange(n) // 3}).write_csv(
        path
    )
    return path, p, y


def test_a_promise_says_from_which_score_on_and_marks_rows(tmp_path, capsys):
    path, p, y = _answers(tmp_path)
    out = tmp_path / "out.csv"
    options = ["--prob", "p_*", "--y", "label", "--at-most", "0.1", "-o", str(out)]
    promise = found(capsys, path, *options)["promise"]
    expected = risk_threshold(y, p, at_most=0.1)
    assert promise["threshold"] == expected.threshold
    answered = pl.read_csv(out)["answered"].to_numpy()
    np.testing.assert_array_equal(answered, p.max(axis=1) >= expected.threshold)
    assert "bounded mean" in " ".join(
        run(capsys, path, *options[:-2], "--groups", "doc")[1].split()
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--at-most", "0.1"], "y"),
        (["--at-most", "0.1", "--y", "label", "--cost-fp", "1", "--cost-fn", "2"], "cost"),
        (["--at-most", "7", "--y", "label"], "between 0 and 1"),
        (["--groups", "doc", "--cost-fp", "1", "--cost-fn", "2"], "groups"),
    ],
)
def test_a_promise_refuses_what_does_not_go_with_it(tmp_path, capsys, options, words):
    path, _, _ = _answers(tmp_path, 60)
    code, _, err = run(capsys, path, "--prob", "p_*", *options)
    assert code == 2
    assert words in err


def test_one_of_several_classes_is_called_by_its_lens(tmp_path, capsys):
    path, p, y = _answers(tmp_path)
    options = ["--prob", "p_*", "--y", "label", "--at-most", "0.3", "--risk", "fdr"]
    promise = found(capsys, path, *options, "--lens", "class:b")["promise"]
    called = p[:, 1] >= float(promise["threshold"])
    assert promise["observed"] == pytest.approx((y[called] != 1).mean())
    code, _, err = run(capsys, path, *options)
    assert code == 2
    assert "--lens" in err


def test_rows_answered_are_those_of_the_class_that_is_called(tmp_path, capsys):
    path, p, _ = _answers(tmp_path)
    out = tmp_path / "out.csv"
    options = ["--prob", "p_*", "--y", "label", "--at-most", "0.3", "--risk", "fdr"]
    promise = found(capsys, path, *options, "--lens", "class:b", "-o", out)["promise"]
    called = pl.read_csv(out)["answered"].to_numpy()
    np.testing.assert_array_equal(called, p[:, 1] >= float(promise["threshold"]))
    pair = tmp_path / "pair.csv"  # the positive class stands first
    y = np.where(np.random.default_rng(1).random(1500) < p[:, 0], "bad", "good")
    pl.DataFrame({"p_bad": p[:, 0], "p_good": 1 - p[:, 0], "y": y}).write_csv(pair)
    options = ["--prob", "p_*", "--y", "y", "--pos-label", "bad", "--at-most", "0.3"]
    promise = found(capsys, pair, *options, "--risk", "fdr", "-o", out)["promise"]
    called = pl.read_csv(out)["answered"].to_numpy()
    np.testing.assert_array_equal(called, p[:, 0] >= float(promise["threshold"]))
