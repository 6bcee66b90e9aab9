"""The game played by typing: scripted lines in, text out."""

from __future__ import annotations

import pytest

from veridical.exceptions import InvalidInputError
from veridical.planning._game.engine import HealthcareGame, play
from veridical.planning._game.players import TrustingPlayer, parse_choices
from veridical.planning._game.rules import GameRules
from veridical.planning._game.terminal import play_in_terminal


def _session(lines, *, game=None, end=EOFError):
    """Type lines, then end; the game, what was shown after each line, and the summary."""
    game = game or HealthcareGame("very over-confident", n_rounds=2, n_patients=8, rng=3)
    typed, shown = iter(lines), [""]

    def read(prompt):
        assert prompt == "treat> "
        shown.append("")
        line = next(typed, None)
        if line is None:
            raise end
        return line

    def write(text):
        shown[-1] += text + "\n"

    return game, shown, play_in_terminal(game, read=read, write=write)


def test_a_whole_game():
    game, shown, summary = _session(["1:D 3:d", "none"])
    assert [outcome.choices for outcome in game.outcomes] == [(4, 0, 4, 0, 0, 0, 0, 0), (0,) * 8]
    assert len(shown) == 3  # before and after each of two lines: nothing was asked twice
    assert "2 rounds of 8 patients. Budget of a round: 12." in shown[0]
    assert (
        "D blood thinner     2       -3       -3         -3            -3          40" in shown[0]
    )
    assert "Round 1 of 2, budget 12." in shown[0]
    assert "Round 2 of 2, budget 12." in shown[1]
    assert str(game.outcomes[0]) in shown[1]
    assert str(summary) in shown[2]
    assert summary == game.summary()


def test_reports_and_outcomes_are_shown_for_every_patient():
    game, shown, _ = _session(["2:A"])
    reports, stakes = game.outcomes[0].patients.reports, game.outcomes[0].patients.stakes
    table = shown[0].split("Reported probabilities in per cent:")[1].split("\n")[3:11]
    for number, (line, report) in enumerate(zip(table, reports, strict=True), start=1):
        first, times, stake, *cells = line.split()
        assert (first, times, stake) == (str(number), "x", f"{stakes[number - 1]:g}")
        assert [float(cell) for cell in cells] == pytest.approx(
            [100 * p for p in report], abs=0.051
        )
    rows = shown[1].split("\n")[2:10]
    for line, condition in zip(rows, game.outcomes[0].conditions, strict=True):
        assert f" {game.rules.conditions[condition]} " in line
    assert rows[1].split()[-2] == "A"


def test_small_reports_keep_a_digit():
    _, shown, _ = _session([])
    cells = [cell for line in shown[0].split("\n")[-9:-1] for cell in line.split()[3:]]
    assert any(0 < float(cell) < 0.1 for cell in cells)
    assert all(float(cell) > 0 or cell == "0" for cell in cells)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("hello", "must be such as 3:A; got 'hello'"),
        ("3A", "must be such as 3:A; got '3A'"),
        ("3:", "must be such as 3:A; got '3:'"),
        (":A", "must be such as 3:A; got ':A'"),
        ("-1:A", "must be such as 3:A; got '-1:A'"),
        ("³:A", "must be such as 3:A; got '³:A'"),
        ("1" * 5000 + ":A", "must be such as 3:A; got '111"),
        ("1:A none", "must be such as 3:A; got 'none'"),
        ("1:Z", "must be treatments of these rules; got 'Z'"),
        ("99:A", "must be for patients of this round; got patient 99"),
        ("0:A", "must be for patients of this round; got patient 0"),
        ("1:A 1:B", "must be one for each patient; got '1:B' for a second time"),
        (
            "1:C 2:C 3:C 4:C 5:C 6:C 7:A",
            "must be within the budget of 12; got a cost of 13 for 7 treated",
        ),
    ],
)
def test_bad_lines_are_explained_and_asked_again(line, message):
    game, shown, _ = _session([line, "none", "quit"])
    assert message in shown[1]
    assert "Hint: " in shown[1]
    assert shown[1].startswith("treat: `choices` ")
    assert len(game.outcomes) == 1


@pytest.mark.parametrize("line", ["", "   ", "help", "?"])
def test_help(line):
    game, shown, _ = _session([line])
    assert "auto" in shown[1]
    assert "quit" in shown[1]
    assert game.outcomes == ()


def test_rules_are_shown_again():
    _, shown, _ = _session(["RULES"])
    assert shown[1] == shown[0].split("Write the patient's")[0]


def test_auto_trusts_the_reports():
    game, _, summary = _session(["auto", " Auto "])
    other = HealthcareGame("very over-confident", n_rounds=2, n_patients=8, rng=3)
    assert summary == play(TrustingPlayer(), other)
    assert game.outcomes == other.outcomes


@pytest.mark.parametrize("line", ["quit", "q", "EXIT"])
def test_quitting_shows_the_summary_so_far(line):
    game, shown, summary = _session(["auto", line])
    assert summary.n_rounds == len(game.outcomes) == 1
    assert shown[-1] == f"\n{summary}\n"


@pytest.mark.parametrize("end", [EOFError, KeyboardInterrupt])
def test_end_of_input_and_interrupts_end_the_game(end):
    _, shown, summary = _session([], end=end)
    assert summary.n_rounds == 0
    assert shown[-1].endswith("No round was played.\n")


def test_the_tally_says_how_often_reports_were_right_by_how_sure_they_were():
    game, shown, _ = _session(["none", "none"])
    pairs = [
        (max(report), report.index(max(report)) == condition)
        for outcome in game.outcomes
        for report, condition in zip(outcome.patients.reports, outcome.conditions, strict=True)
    ]
    rows = shown[2].split("Reports so far:")[1].split("\n")[2:5]
    ranges = ((0.0, 0.6), (0.6, 0.9), (0.9, 1.01))
    groups = [[pair for pair in pairs if low <= pair[0] < high] for low, high in ranges]
    told = [line.split("%", 1)[1].split() for line in rows if "%" in line]
    for cells, group in zip(told, [group for group in groups if group], strict=True):
        said = 100 * sum(top for top, _ in group) / len(group)
        right = 100 * sum(hit for _, hit in group) / len(group)
        assert cells == [f"{len(group)}", f"{said:.0f}", "%", f"{right:.0f}", "%"]


def test_a_game_half_played_goes_on():
    game = HealthcareGame("very over-confident", n_rounds=2, n_patients=8, rng=3)
    game.treat({1: "D"})
    _, shown, summary = _session(["none"], game=game)
    assert "Round 2 of 2" in shown[0]
    assert summary.n_rounds == 2


def test_parse_choices_separates_by_blanks_and_commas():
    assert parse_choices("3:A,7:B   12:surgery", caller="x") == {3: "A", 7: "B", 12: "surgery"}
    assert parse_choices(" None ", caller="x") == {}
    with pytest.raises(InvalidInputError, match="x: `choices` must be such as 3:A; got '3;A'"):
        parse_choices("3;A", caller="x")


def test_rules_say_the_aim_and_from_which_probability_a_treatment_pays():
    _, shown, _ = _session(["quit"])
    text = "\n".join(shown)
    assert "Gain as many weeks as you can" in text
    # 9 p_bad = 6 p: drops from 9 / 15, antibiotic 28 / 40, surgery 80 / 100, thinner 3 / 43
    lines = [line.split() for line in text.split("\n") if line.endswith("%")]
    assert [line[-2] for line in lines[:4]] == ["60", "70", "80", "7"]


def test_the_score_is_the_sum_of_all_rounds():
    game, shown, _ = _session(["auto", "auto"])
    gained = sum(outcome.value for outcome in game.outcomes)
    assert f"Score: {gained:g} weeks" in "\n".join(shown)


@pytest.mark.parametrize(
    ("benefit", "pays"),
    [((5.0, -5.0), 0.5), ((0.0, 2.0), 0.0), ((-1.0, -2.0), 1.0), ((9.0, -1.0), 0.1)],
)
def test_a_treatment_pays_where_good_and_harm_cancel(benefit, pays):
    rules = GameRules(conditions=("a", "b"), treatments=("t",), costs=(1.0,), benefit=(benefit,))
    assert rules.pays_from == pytest.approx((pays,))
