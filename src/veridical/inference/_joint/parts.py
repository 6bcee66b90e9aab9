"""Parts of a joint test: their statistics before they are compared, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.inference._joint.scale import Members, judge
from veridical.results import JointPart, JointTest

# How much of the level each kind takes: what is most often wrong, and has one number, takes more.
_SHARE = {"level": 2.0, "spread": 2.0}


@dataclass(frozen=True)
class Found:
    """Statistics of one part, observed and drawn.

    Attributes
    ----------
    name, lens, label, n_samples, direction : as in `JointPart`
    values : (1 + R, m) statistics that are large where it is wrong, what was observed first
    impossible : whether something happened that had no probability
    """

    name: str
    lens: str
    values: FloatArray
    n_samples: int
    direction: float = 0.0
    label: Any = None
    impossible: bool = False


def joint_test_of(
    found: list[Found],
    *,
    lens: str,
    level: float,
    n_samples: int,
    null: str,
    notes: tuple[str, ...],
) -> JointTest:
    """The test of all parts at once."""
    n_resamples = len(found[0].values) - 1
    values = np.hstack([part.values for part in found])
    widths = np.array([part.values.shape[1] for part in found])
    share = np.array([_SHARE.get(part.name, 1.0) for part in found])
    index = np.repeat(np.arange(len(found)), widths)
    impossible = np.repeat([part.impossible for part in found], widths)
    members = Members(values, index, (share / widths)[index], impossible)
    judged = judge(members, len(found))
    parts = tuple(
        JointPart(
            name=part.name,
            lens=part.lens,
            label=part.label,
            statistic=float(part.values[0].max(initial=0.0)),
            direction=part.direction,
            pvalue=float(own),
            adjusted=float(adjusted),
            n_samples=part.n_samples,
        )
        for part, own, adjusted in zip(found, *judged, strict=True)
    )
    return JointTest(
        pvalue=min((part.adjusted for part in parts), default=1.0),
        parts=parts,
        level=level,
        lens=lens,
        null=null,
        n_samples=n_samples,
        n_resamples=n_resamples,
        notes=notes,
    )
