"""What the name of a column says about what the column holds."""

from __future__ import annotations

import re
from enum import IntEnum


class Hint(IntEnum):
    """How far a name speaks for a purpose."""

    AGAINST = 1
    NOTHING = 2
    FOR = 3


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OUTCOMES = _set("""
    y label labels target targets outcome outcomes truth class classes actual actuals observed
    status diagnosis result event response default defaulted survived survival churn churned
    converted clicked bought purchased fraud spam species disease ill died death dead readmitted
    relapse won cut quality grade category digit gold gt groundtruth ytrue ytest true
    ergebnis diagnose klasse ausfall
""")
_PREDICTIONS = _set("""
    p pr prob probs proba probas probability probabilities phat phats hat yhat score scores risk pd
    pred preds predicted prediction predictions forecast forecasts confidence conf likelihood
    propensity chance posterior softmax logit logits yprob yproba yscore ypred estimated
    wahrscheinlichkeit vorhersage prognose risiko
""")
_LONG_PREDICTIONS = frozenset(word for word in _PREDICTIONS if len(word) > 2)
# Who a row is, when, where, how much it counts: a way to group or to order rows.
_OTHERS = _set("""
    id ids idx index row rows nr no number key unnamed date datum time timestamp year month day
    week hour weight weights w fold split group groups gruppe segment region country city
    site centre center hospital branch sex gender age race ethnicity model version source batch
    cohort train sample feature lat lon code zip postcode unit
""")
_NUMBERS = _set("rate ratio share fraction alpha value values")
_PERCENT = _set("pct percent percentage prozent perc")
_RISKS = _set("risk risiko")


def words_of(name: str) -> list[str]:
    """Split a name into words: at signs, where case changes, and before trailing digits.

    Examples
    --------
    >>> words_of("p_good"), words_of("PDHat2"), words_of("Ist krank?")
    (['p', 'good'], ['pd', 'hat'], ['ist', 'krank'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    parts = re.findall(r"[^\W\d_]+|\d+", spaced)
    return [part.lower() for part in parts if not part.isdigit()]


def names_percent(name: str) -> bool:
    """Whether a name says that values are percentages.

    Examples
    --------
    >>> names_percent("risk_pct"), names_percent("risk")
    (True, False)
    """
    return not _PERCENT.isdisjoint(words_of(name)) or "%" in name


def names_risk(name: str) -> bool:
    """Whether a name may be that of an outcome and of its probability alike."""
    return words_of(name)[-1:] != [] and words_of(name)[-1] in _RISKS


def names_outcome(name: str) -> Hint:
    """Whether a name is one of an outcome.

    Examples
    --------
    >>> names_outcome("Loan status").name, names_outcome("y_pred").name, names_outcome("x").name
    ('FOR', 'AGAINST', 'NOTHING')
    """
    words = words_of(name)
    if names_prediction(name) is Hint.FOR:
        return Hint.AGAINST
    known = bool(words) and not _OUTCOMES.isdisjoint((words[0], words[-1]))
    other = not _OTHERS.isdisjoint(words)
    if known == other:
        return Hint.NOTHING
    return Hint.FOR if known else Hint.AGAINST


def names_prediction(name: str) -> Hint:
    """Whether a name is one of a prediction.

    Examples
    --------
    >>> names_prediction("pd_hat").name, names_prediction("p7").name, names_prediction("w").name
    ('FOR', 'FOR', 'AGAINST')
    """
    words = words_of(name)
    if words[:2] == ["p", "value"] or words == ["pvalue"]:
        return Hint.AGAINST
    # A single letter says something only in front: "vitamin p" is none.
    if words and (
        not _PREDICTIONS.isdisjoint(words[:1]) or not _LONG_PREDICTIONS.isdisjoint(words[1:])
    ):
        return Hint.FOR
    if not (_OTHERS - {"model"} | _NUMBERS | _OUTCOMES).isdisjoint(words):
        return Hint.AGAINST
    return Hint.NOTHING
