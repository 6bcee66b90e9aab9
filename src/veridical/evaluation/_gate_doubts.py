"""Requirements that do not ask for what they seem to."""

from __future__ import annotations

from veridical.evaluation._gate_language import Rule


def doubt_of(rule: Rule) -> str | None:
    """Say why meeting a requirement would not be evidence, or None.

    Examples
    --------
    >>> from veridical.evaluation._gate_language import read_rule
    >>> print(doubt_of(read_rule("cox().pvalue > 0.05", caller="check")))
    'cox().pvalue > 0.05' asks that a test does not reject, which is no evidence of calibration:
    with few rows hardly anything is rejected; require an upper limit ('ece.high < 0.05') or
    'equivalence(0.03).pvalue < 0.05'
    >>> doubt_of(read_rule("ece.high < 0.05", caller="check")) is None
    True
    """
    quantity, less = rule.quantity, rule.wants_less
    said = None
    if quantity.field == "pvalue":
        said = _of_pvalue(quantity.name, less=less)
    elif rule.minus is not None:
        said = (
            "compares two estimates and takes no account of chance:"
            f" 'difference({quantity.name})' has limits"
        )
    elif quantity.field in ("low", "high") and less == (quantity.field == "low"):
        right = "high" if less else "low"
        said = (
            "is the easier to meet the fewer the rows: that nothing speaks against it is no"
            f" evidence for it; require the {right!r} limit"
        )
    return None if said is None else f"{rule.text!r} {said}"


def of_estimate(rule: Rule) -> str:
    """Say that an estimate with known limits was compared without them."""
    right = "high" if rule.wants_less else "low"
    name = str(rule.quantity).removesuffix(".value")
    return (
        f"{rule.text!r} compares an estimate and takes no account of chance:"
        f" '{name}.{right}' is its limit"
    )


def _of_pvalue(name: str, *, less: bool) -> str | None:
    if name == "equivalence":
        return None if less else "asks that calibration is not shown"
    if name == "difference":
        return "does not say which of the two is better: require a limit, 'high' or 'low'"
    if less:
        return "asks that calibration is rejected"
    return (
        "asks that a test does not reject, which is no evidence of calibration: with few rows"
        " hardly anything is rejected; require an upper limit ('ece.high < 0.05') or"
        " 'equivalence(0.03).pvalue < 0.05'"
    )
