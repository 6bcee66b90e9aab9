"""Names of calibrators, for options such as `calibrator="beta"`."""

from __future__ import annotations

import re
from functools import cache
from inspect import signature
from typing import Any

import veridical.calibrators as calibrators
from veridical._core.typing import WeightType
from veridical._core.validation import check_option
from veridical.calibrators import Calibrator, OneVsRestCalibrator
from veridical.calibrators._base import BinaryCalibrator

ALIASES = {"sigmoid": "platt"}  # the names other libraries know
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


@cache
def calibrator_names() -> dict[str, type[Calibrator] | None]:
    """Every name with its class, in alphabetical order; "auto" has none until it is asked for.

    Names are those of the classes in kebab case: `NearIsotonicCalibrator` is "near-isotonic".
    Calibrators made of others have no name, since they need one to be given.

    Examples
    --------
    >>> calibrator_names()["venn-abers"].__name__
    'VennAbersCalibrator'
    """
    known: dict[str, type[Calibrator] | None] = {"auto": None}
    for public in calibrators.__all__:
        thing = getattr(calibrators, public)
        if _has_a_name(thing):
            known["-".join(_WORDS.findall(public.removesuffix("Calibrator"))).lower()] = thing
    known |= {alias: known[name] for alias, name in ALIASES.items()}
    return dict(sorted(known.items()))


def calibrator_named(
    name: str, n_classes: int = 2, *, caller: str = "calibrator_named", param: str = "name"
) -> Calibrator:
    """Return an unfitted calibrator of that name, for a number of classes.

    Parameters
    ----------
    name : str
        One of :func:`calibrator_names`; case does not matter, and "_" is "-".
    n_classes : int, default 2
        From three classes on, maps of two classes are fitted to each class against the rest.
    caller, param : str
        Whom an error is to name.

    Examples
    --------
    >>> calibrator_named("isotonic")
    IsotonicCalibrator()
    >>> calibrator_named("isotonic", 3)
    OneVsRestCalibrator(calibrator=IsotonicCalibrator())
    >>> calibrator_named("isotonik")
    Traceback (most recent call last):
        ...
    veridical.exceptions.InvalidInputError: calibrator_named: `name` must be one of ...
    Hint: did you mean 'isotonic'?
    """
    known = calibrator_names()
    given = name.lower().replace("_", "-") if isinstance(name, str) else name
    check_option(caller, param, given, known)
    kind = known[given]
    return for_classes(_auto() if kind is None else kind(), n_classes)


def for_classes(calibrator: Calibrator, n_classes: int) -> Calibrator:
    """Wrap a map of two classes if there are more; other calibrators are returned as they are."""
    if n_classes <= 2 or not isinstance(calibrator, BinaryCalibrator):
        return calibrator
    own: dict[str, Any] = {"input": calibrator.input, "weight_type": calibrator.weight_type}
    default: WeightType = "importance"
    calibrator.set_params(input="probability", labels=None, weight_type=default)
    return OneVsRestCalibrator(calibrator, **own)


def _auto() -> Calibrator:
    from veridical.selection._auto import AutoCalibrator

    return AutoCalibrator()


def _has_a_name(thing: object) -> bool:
    if not (isinstance(thing, type) and issubclass(thing, Calibrator)):
        return False
    needed = [p for p in signature(thing).parameters.values() if p.default is p.empty]
    return thing is not Calibrator and not needed
