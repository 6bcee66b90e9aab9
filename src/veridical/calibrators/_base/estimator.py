"""The scikit-learn estimator that a calibrator is, without loading scikit-learn to fit one.

Importing `sklearn.base` loads `scipy.stats` and, where it is installed, pandas: more than a report
of a small file takes for all its figures. Fitting and applying maps needs none of that. So
`Estimator` gets its bases, `ClassifierMixin` and `BaseEstimator`, when scikit-learn is there or is
needed: when a calibrator is made after scikit-learn was imported, when a method of theirs is asked
for, and when a name is taken from `veridical`. What this leaves: a calibrator of
`veridical.calibrators` that was made before scikit-learn was imported is no `BaseEstimator` for
`isinstance` until one of these happens.
"""

from __future__ import annotations

import copy
import inspect
import sys
import threading
from abc import ABCMeta
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator as _Bases
else:

    class _Bases:
        """Where the bases of scikit-learn will stand."""


_Kind = TypeVar("_Kind", bound="Estimator")
_METHODS = ("get_params", "set_params", "score", "get_metadata_routing")
_SHOWN = ("_repr_html_", "_repr_mimebundle_")
_JOINING = threading.RLock()


class _Late(ABCMeta):
    """A class that gets its bases when something of theirs is asked of it."""

    def __new__(cls, name: str, bases: tuple[type, ...], *rest: Any, **options: Any) -> Any:
        if bases != (_Bases,):  # before, so that a class of bases out of order never is there
            _join_if_loaded()
        return super().__new__(cls, name, bases, *rest, **options)

    def __getattr__(cls, name: str) -> Any:
        if _has_to_join(name):
            join_sklearn()
            return getattr(cls, name)
        msg = f"type object {cls.__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)


class Estimator(_Bases, metaclass=_Late):  # type: ignore[misc]  # scikit-learn is untyped
    """What is a classifier of scikit-learn as soon as somebody can tell."""

    def __post_init__(self) -> None:  # parameters are the fields of a dataclass
        _join_if_loaded()

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Names of the parameters; scikit-learn would look at the signature every time."""
        return sorted(set(inspect.signature(cls.__init__).parameters) - {"self"})

    # What follows stands in for the bases until they are there, and is gone then.

    def __getattr__(self, name: str) -> Any:
        if _has_to_join(name):
            join_sklearn()
            return getattr(self, name)
        msg = f"{type(self).__name__!r} object has no attribute {name!r}"
        raise AttributeError(msg)

    def __repr__(self) -> str:
        join_sklearn()
        return repr(self)

    def __dir__(self) -> list[str]:
        join_sklearn()
        return dir(self)


def join_sklearn() -> None:
    """Load scikit-learn and let its classes be the bases of all calibrators, once."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    with _JOINING:
        if _joined():
            return
        Estimator.__bases__ = (ClassifierMixin, BaseEstimator)
        for name in ("__getattr__", "__repr__", "__dir__"):
            delattr(Estimator, name)
        for kind in _kinds(Estimator):  # as if they had been there when the class was made
            super(Estimator, kind).__init_subclass__()


def parameters_of(estimator: Estimator) -> dict[str, Any]:
    """Parameters by name, those of parts left alone."""
    return {name: getattr(estimator, name) for name in estimator._get_param_names()}


def fresh(calibrator: _Kind, **changes: Any) -> _Kind:
    """Copy that is not fitted, as `sklearn.base.clone` makes it, with some parameters changed."""
    given = {**parameters_of(calibrator), **changes}
    made = type(calibrator)(**{name: _copied(value) for name, value in given.items()})
    if "_metadata_request" in vars(calibrator):
        made._metadata_request = copy.deepcopy(calibrator._metadata_request)
    return made


def _copied(value: Any) -> Any:
    """Copy of a parameter, whatever is an estimator in it not fitted."""
    if isinstance(value, Estimator):
        return fresh(value)
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(map(_copied, value))
    if type(value) is dict:
        return {name: _copied(each) for name, each in value.items()}
    if hasattr(value, "get_params") and not isinstance(value, type):
        from sklearn.base import clone

        return clone(value)
    return copy.deepcopy(value)


def _joined() -> bool:
    return Estimator.__bases__ != (_Bases,)


def _join_if_loaded() -> None:
    if _is_loaded() and not _joined():
        join_sklearn()


def _has_to_join(name: str) -> bool:
    """Whether this may be a name of scikit-learn's bases, which are not there yet."""
    if _joined():
        return False
    asked = name in _METHODS or name in _SHOWN or name.startswith("__sklearn_")
    return asked or (name.startswith("set_") and name.endswith("_request")) or _is_loaded()


def _is_loaded() -> bool:
    return "sklearn.base" in sys.modules


def _kinds(kind: type[Estimator]) -> list[type[Estimator]]:
    """Classes made of this one, each after the one that it is made of."""
    found = [kind]
    for each in found:
        found.extend(made for made in each.__subclasses__() if made not in found)
    return found[1:]
