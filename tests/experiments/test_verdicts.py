"""Every verdict of every page, once more from the numbers and standard errors in its JSON file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from veridical_lab import list_experiments
from veridical_lab._frame.words import MEANINGS, WORDS

PAGES = Path(__file__).parents[2] / "docs" / "experiments"
NAMES = [experiment.name for experiment in list_experiments()]
JUDGED = ("reproduced", "differs", "undecided")
# Fewest claims and numbers of a source that its page judges.
AT_LEAST = {
    "survey-toy": 60, "survey-binary": 25, "survey-multiclass": 15, "estimators": 30,
    "evaluating": 30, "fake": 40, "chapter": 25,
}  # fmt: skip


def facts_of(name):
    return json.loads((PAGES / f"{name}.json").read_text(encoding="utf-8"))["facts"]


def text_of(name):
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def judge(check, value=None):
    """One comparison: does it hold on both ends of value ± two standard errors, or on neither?"""
    value = check["value"] if value is None else value
    room = 2 * check["standard_error"]

    def holds(x):
        match check["sign"]:
            case "<":
                return x < check["bound"]
            case "<=":
                return x <= check["bound"]
            case ">":
                return x > check["bound"]
            case ">=":
                return x >= check["bound"]
            case "==":
                return x == check["bound"]
            case "=":
                return abs(x - check["bound"]) <= check["tolerance"]
        raise AssertionError(check["sign"])

    if not room or check["sign"] == "==":
        return "reproduced" if holds(value) else "differs"
    if check["sign"] == "=":  # the interval inside the tolerance, outside it, or across its ends
        away = abs(value - check["bound"])
        if away + room <= check["tolerance"]:
            return "reproduced"
        return "differs" if away - room >= check["tolerance"] else "undecided"
    ends = {holds(value - room * 0.999999), holds(value + room * 0.999999)}
    return "undecided" if len(ends) == 2 else "reproduced" if ends == {True} else "differs"


def worst(verdicts):
    return next(one for one in ("differs", "undecided", "reproduced") if one in verdicts)


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_follow_from_the_numbers(name):
    judged = 0
    for fact in facts_of(name):
        if not fact["checks"]:
            assert fact["verdict"] == "added", fact["name"]
            assert not fact["claim"], fact["name"]  # a statement is judged
            continue
        assert fact["verdict"] == worst([judge(check) for check in fact["checks"]]), fact["name"]
        assert fact["value"] == fact["checks"][0]["value"]
        judged += 1
    assert judged >= AT_LEAST.get(name, 5)


def test_other_numbers_would_give_other_verdicts():
    """Each comparison, moved far to either side of its bound, is decided both ways."""
    signs, verdicts = set(), set()
    for name in NAMES:
        for fact in facts_of(name):
            for check in fact["checks"]:
                far = 1 + abs(check["bound"]) + 9 * check["standard_error"] + check["tolerance"]
                moved = {judge(check, check["bound"] + step * far) for step in (-1, 0, 1)}
                assert "differs" in moved, fact["name"]
                if check["sign"] in ("=", "=="):  # room for noise within the tolerance
                    sure = 2 * check["standard_error"] <= check["tolerance"]
                    assert "reproduced" in moved or not sure, fact["name"]
                else:
                    assert "reproduced" in moved, fact["name"]
                signs.add(check["sign"])
            verdicts.add(fact["verdict"])
    assert signs == {"<", "<=", ">", ">=", "==", "="}
    assert verdicts == {*JUDGED, "added"}


@pytest.mark.parametrize(
    ("name", "least"),
    [("survey-binary", 15), ("survey-multiclass", 10), ("estimators", 25), ("fake", 15)],
)
def test_what_was_drawn_has_a_standard_error(name, least):
    checks = [check for fact in facts_of(name) for check in fact["checks"]]
    assert sum(check["standard_error"] > 0 for check in checks) >= least


@pytest.mark.parametrize("name", NAMES)
def test_words_mean_the_same_on_every_page(name):
    text = text_of(name)
    for meaning in MEANINGS:
        row = f"| {', '.join(meaning.words)} | {meaning.of} | {meaning.sign} {meaning.bound:.2g} |"
        assert row in text
    for fact in facts_of(name):
        for check in fact["checks"]:
            if check["word"]:
                known = WORDS[check["word"]]
                assert (check["sign"], check["bound"]) == (known.sign, known.bound)


def test_words_are_used_and_have_one_meaning():
    words = [word for meaning in MEANINGS for word in meaning.words]
    assert len(words) == len(set(words))
    facts = [fact for name in NAMES for fact in facts_of(name)]
    used = {check["word"] for fact in facts for check in fact["checks"]} - {""}
    assert {word for m in MEANINGS for word in m.words if not used & set(m.words)} == set()


def counted(facts):
    """Verdicts by origin; differences of one cause count once."""
    found, causes = {}, set()
    for fact in facts:
        key = (fact["origin"], fact["cause"])
        if fact["verdict"] == "added":
            continue
        if fact["verdict"] == "differs" and fact["cause"]:
            if key in causes:
                continue
            causes.add(key)
        found.setdefault(fact["origin"], []).append(fact["verdict"])
    return {origin: tuple(verdicts.count(v) for v in JUDGED) for origin, verdicts in found.items()}


@pytest.mark.parametrize("name", NAMES)
def test_headline_and_index_count_what_is_there(name):
    counts = counted(facts_of(name))
    text, index = text_of(name), (PAGES / "index.md").read_text(encoding="utf-8")
    for origin, numbers in counts.items():
        told = ", ".join(f"{v} {n}" for v, n in zip(JUDGED, numbers, strict=True) if n) + "."
        headline = f"Of {origin}: {told}" if origin else told.capitalize()
        assert headline in text
    row = next(line for line in index.splitlines() if line.startswith(f"| [{name}]"))
    assert re.findall(r"\| (\d+) (?=\|)", row)[:3] == [str(n) for n in counts[""]]
    assert "| full |" in row


def test_the_index_adds_up():
    columns = zip(*(counted(facts_of(name))[""] for name in NAMES), strict=True)
    told = ", ".join(
        f"{sum(column)} {verdict}" for verdict, column in zip(JUDGED, columns, strict=True)
    )
    assert f": {told}." in (PAGES / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_pages_show_every_fact_with_its_verdict(name):
    text = text_of(name)
    for fact in facts_of(name):
        what = fact["name"] + (f": {fact['claim']}" if fact["claim"] else "")
        rows = [line for line in text.splitlines() if line.startswith(f"| {_cell(what)} |")]
        assert rows, fact["name"]
        assert all(f"**{fact['verdict']}**" in row for row in rows)
        assert all(f"{fact['value']:.6g}" in row for row in rows)


def _cell(text):
    return text.replace("|", "\\|")


def test_runs_of_a_package_are_not_the_papers():
    """What kyle 0.1.8 answers, as recorded: none of it is counted as printed by the review."""
    runs = {0.8914, 0.8208, 0.0709, 0.75, 0.1414, 0.6119, 0.209, 0.1401}
    found = {
        fact["printed"]: fact["origin"] for fact in facts_of("fake") if fact["printed"] in runs
    }
    assert found == dict.fromkeys(runs, "kyle 0.1.8")
