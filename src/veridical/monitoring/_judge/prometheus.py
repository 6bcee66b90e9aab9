"""A status in the text format that Prometheus reads."""

from __future__ import annotations

import math

from veridical.results import MonitorStatus


def prometheus_text(status: MonitorStatus) -> str:
    """Write a status as metrics (Prometheus text exposition format, version 0.0.4).

    Parameters
    ----------
    status : MonitorStatus
        What `CalibrationMonitor.status` returns.

    Returns
    -------
    str
        Gauges named ``veridical_*``; parts of the rows are told apart by labels.
    """
    lines: list[str] = []

    def gauge(name: str, help: str, samples: list[tuple[dict[str, str], float]]) -> None:
        full = f"veridical_{name}"
        lines.extend([f"# HELP {full} {help}", f"# TYPE {full} gauge"])
        lines.extend(f"{full}{_labels(labels)} {_number(value)}" for labels, value in samples)

    gauge("rows", "Rows with known outcomes so far.", [({}, status.n_samples)])
    gauge("alarm", "1 if calibration was ever rejected.", [({}, float(status.alarm))])
    gauge("e_value", "Evidence against calibration now.", [({}, status.e_value)])
    gauge("e_value_max", "Largest evidence so far.", [({}, status.max_e_value)])
    windows = ("start", "rolling", "weighted")
    estimates = list(zip(windows, status.estimates, strict=False))
    for field in ("deviation", "low", "high"):
        gauge(
            f"deviation{'' if field == 'deviation' else '_' + field}",
            f"Mean outcome minus mean prediction, {field}.",
            [({"window": window}, getattr(each, field)) for window, each in estimates],
        )
    parts = [({"family": s.family, "part": s.name}, s) for s in status.streams]
    gauge("part_rows", "Rows of a part.", [(labels, s.n_rows) for labels, s in parts])
    gauge("part_e_value", "Evidence of a part.", [(labels, s.e_value) for labels, s in parts])
    gauge(
        "part_blamed",
        "1 if the part alone was ever rejected.",
        [(labels, float(s.alarmed_at is not None)) for labels, s in parts],
    )
    if status.online is not None:
        saved = "Log loss in nats that the online map has saved so far."
        gauge("online_saved_nats", saved, [({}, status.online.gain)])
        gauge("online_rows", "Rows the online map learnt from.", [({}, status.online.n_rows)])
    return "\n".join(lines) + "\n"


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return ("+Inf" if value > 0 else "-Inf") if math.isinf(value) else repr(float(value))
