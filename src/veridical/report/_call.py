"""Python that makes the same report again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from veridical.lenses import Lens

if TYPE_CHECKING:
    from veridical.report._content_gather import Options
    from veridical.report._inputs import Origin

_MOST_LABELS = 20


def call_of(origin: Origin, *, lens: Any, labels: Any, pos_label: Any, options: Options) -> str:
    """Return a few lines that run as they stand where the data came from a file."""
    arguments = dict(origin.arguments)
    data = arguments.pop("data")
    if lens is not None:
        arguments["lens"] = repr(lens)
    if labels is not None:
        listed = np.asarray(labels).tolist()
        arguments["labels"] = repr(listed) if len(listed) <= _MOST_LABELS else "labels"
    if pos_label is not None:
        arguments["pos_label"] = repr(pos_label)
    arguments |= {
        "n_bins": repr(options.n_bins),
        "confidence_level": repr(options.level),
        "n_resamples": repr(options.n_resamples),
        "margins": repr(options.margins),
        "rng": repr(options.seed),
    }
    lines = [f"    {data},", *(f"    {name}={value}," for name, value in arguments.items())]
    imports = f"from veridical import {type(lens).__name__}" if isinstance(lens, Lens) else ""
    return "\n".join(
        [
            "import veridical",
            *([imports] if imports else []),
            "",
            "report = veridical.make_report(",
            *lines,
            ")",
            "print(report.headline)",
            'report.save("report.html")',
        ]
    )
