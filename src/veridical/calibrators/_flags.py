"""Options that are on or off."""

from __future__ import annotations

import numpy as np

from veridical.exceptions import invalid


def check_flag(caller: str, param: str, value: object) -> None:
    """Raise unless `value` is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        hint = f"e.g. `{caller}({param}=True)`."
        raise invalid(caller, param, "True or False", repr(value), hint=hint)
