"""What a result is asked for by name, in any spelling of it."""

from __future__ import annotations

from collections.abc import Iterable

from veridical.exceptions import UnknownNameError, unknown_option


def find_name(name: object, known: Iterable[str], *, caller: str) -> str:
    """Return the one of `known` that is meant: case, spaces, hyphens and underscores are alike.

    Raises
    ------
    UnknownNameError
        A KeyError that lists what there is and names the nearest.

    Examples
    --------
    >>> find_name("ece", ["ECE", "ECE equal-mass"], caller="error")
    'ECE'
    >>> find_name("ece_equal_mass", ["ECE", "ECE equal-mass"], caller="error")
    'ECE equal-mass'
    """
    listed = list(known)
    if name in listed:
        return str(name)
    alike = [each for each in listed if _plain(each) == _plain(str(name))]
    if isinstance(name, str) and alike:
        return alike[0]
    raise unknown_option(caller, "name", name, listed, kind=UnknownNameError)


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())
