"""Which of the arguments of `fit` go to the model and which to the splitter."""

from __future__ import annotations

import warnings
from typing import Any

from veridical._core.typing import FloatArray
from veridical.exceptions import VeridicalWarning, invalid


def routed(
    owner: Any, weight: FloatArray | None, groups: Any, fit_params: dict[str, Any], *, caller: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the `fit` of the estimator and of the `split` of the splitter."""
    from sklearn.utils.metadata_routing import process_routing
    from sklearn.utils.validation import has_fit_parameter

    if _routing_enabled():
        given = dict(fit_params)
        if groups is not None:
            given["groups"] = groups
        found = process_routing(owner, "fit", sample_weight=weight, **given)
        return dict(found.estimator.fit), dict(found.splitter.split)
    params = dict(fit_params)
    if weight is not None:
        estimator = owner.estimator
        if has_fit_parameter(estimator, "sample_weight"):
            params["sample_weight"] = weight
        elif _last_step(estimator) is not None:
            params[f"{_last_step(estimator)}__sample_weight"] = weight
        else:
            name = type(estimator).__name__
            text = f"{caller}: {name} takes no sample_weight; only its calibration is weighted."
            warnings.warn(text, VeridicalWarning, stacklevel=3)
    if groups is None:
        return params, {}
    if not hasattr(owner.cv, "split"):
        hint = "use a splitter that knows groups, e.g. `cv=GroupKFold(5)`."
        raise invalid(caller, "cv", "a splitter when `groups` are given", repr(owner.cv), hint=hint)
    return params, {"groups": groups}


def _routing_enabled() -> bool:
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing", False))


def _last_step(estimator: Any) -> str | None:
    """Name of the last step of a pipeline, if that takes weights."""
    from sklearn.utils.validation import has_fit_parameter

    steps = getattr(estimator, "steps", None)
    if not steps or not has_fit_parameter(steps[-1][1], "sample_weight"):
        return None
    return str(steps[-1][0])
