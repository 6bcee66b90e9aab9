"""The sections of a monitor's page, in order, and its history as a picture."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from veridical.report._charts.catalogue import Chart, TimePanel, reliability_chart, timeline_chart
from veridical.report._content.content import short
from veridical.report._monitor.look import FAMILIES, MonitorLook, look_of, news
from veridical.report._page.blocks import (
    MISSING,
    Block,
    Columns,
    Figure,
    Fold,
    Heading,
    Paragraph,
    Section,
    Table,
    Terms,
    level_words,
    limits,
    number,
    pvalue,
    signed,
    signed_limits,
)
from veridical.results import MonitorHistory, MonitorStatus

if TYPE_CHECKING:
    from veridical.report._monitor.monitor import MonitorReport
    from veridical.results import StreamEvidence


def monitor_timeline(history: MonitorHistory, status: MonitorStatus, window: float) -> Chart:
    """Deviation of the rolling window with its confidence sequence, and the evidence below.

    Over time where every bucket has a timestamp in ISO 8601 and they are in order, else over the
    number of rows.
    """
    timed = _in_time(history.ended)
    at: Sequence[str] | Sequence[float]
    at = list(history.ended) if timed else history.n_rows.tolist()
    alarms = [] if not status.alarm else [at[_alarm_bucket(history, status, timed=timed)]]
    panels = [
        TimePanel(
            name="observed \N{MINUS SIGN} predicted",
            at=at,
            value=history.deviation.tolist(),
            low=history.low.tolist(),
            high=history.high.tolist(),
            reference=0.0,
            alarms=alarms,
        ),
        TimePanel(
            name="log10 of the evidence",
            at=at,
            value=(history.log_e / math.log(10)).tolist(),
            reference=-math.log10(status.level),
            alarms=alarms,
        ),
    ]
    axis = "end of batch" if timed else "rows seen"
    return timeline_chart(panels, axis=axis, title=f"Last {window:,.0f} rows, and the evidence")


def _in_time(ended: Sequence[str]) -> bool:
    """Whether all are points in time, of one kind and in order."""
    try:
        times = [dt.datetime.fromisoformat(text) for text in ended]
        return all(a <= b for a, b in pairwise(times))
    except (ValueError, TypeError):  # no time, or some with and some without a zone
        return False


def _alarm_bucket(history: MonitorHistory, status: MonitorStatus, *, timed: bool) -> int:
    """The bucket that holds the batch of the alarm, as far as buckets can tell."""
    if timed and status.alarmed_at is not None:
        later = [i for i, ended in enumerate(history.ended) if ended >= status.alarmed_at]
        if later:
            return later[0]
    above = np.flatnonzero(history.log_e >= -math.log(status.level))
    return int(above[0]) if len(above) else int(history.log_e.argmax())


_MOST_PARTS, _LONGEST = 50, 80  # rows of the table, letters of a name
_DEVIATION = "observed \N{MINUS SIGN} predicted"


def sections_of_monitor(report: MonitorReport) -> list[Section]:
    """Every section that has something to say."""
    folded = (
        (
            "reliability",
            "Before and now",
            _reliability,
            "The last rows and those before.",
        ),
        ("parts", "Which parts of the rows?", _parts, _blamed(report)),
        ("vectors", "Whole vectors", _vectors, _vectors_short(report)),
        ("online", "The map that learns", _online, _online_short(report)),
        ("waiting", "Predictions that wait", _waiting, f"{report.n_waiting:,} without an outcome."),
        ("maps", "Maps", _maps, f"{len(report.versions.versions)} fitted so far."),
        ("appendix", "Appendix", _appendix, "Definitions, settings, versions."),
    )
    found = [
        Section("verdict", "Verdict", tuple(_verdict(report))),
        Section("changes", "Since the last look", tuple(_changes(report))),
        Section("timeline", "Over time", tuple(_pictures(report))),
        Section("promises", "What is promised", tuple(_promises(report))),
        *(Section(name, title, tuple(write(report)), text) for name, title, write, text in folded),
    ]
    return [section for section in found if section.blocks]


def _pictures(report: MonitorReport) -> Iterator[Block]:
    """What happened over time, and beside it the rows before and now."""
    if report.history is not None:
        yield Columns((tuple(_timeline(report)), tuple(_reliability(report))))


def _blamed(report: MonitorReport) -> str:
    streams = report.status.streams
    blamed = [s.name or "all rows" for s in streams if s.alarmed_at is not None]
    listed = f": {', '.join(short(name) for name in blamed[:5])}" if blamed else ""
    return f"{len(blamed)} of {len(streams)} parts are blamed{listed}."


def _verdict(report: MonitorReport) -> Iterator[Block]:
    status = report.status
    kind = "miscalibrated" if status.alarm else "quiet"
    yield Paragraph(status.verdict, f"lead {kind}")
    for each in status.promises:
        if each.broken:
            yield Paragraph(each.headline, "lead miscalibrated")
    if status.event:
        others = "" if len(report.settings.labels or ()) < 3 else ", and each class by itself"
        yield Paragraph(f"What is watched: {status.event}{others}.", "read")
    if not status.n_samples:
        yield Paragraph("No prediction with a known outcome has been counted yet.")
        return
    if status.alarm:
        yield Paragraph(
            f"A calibrated model raises this alarm with probability at most"
            f" {level_words(status.level)}, however long it is watched and however often it is"
            " looked at. The alarm stays: it says that predictions were wrong at some time, and"
            " the windows below whether they still are."
        )
    else:
        yield Paragraph(
            "No alarm means that the evidence is not enough, not that calibration is shown: the"
            " limits below say what deviations are still possible."
        )
    yield Table.of(
        f"Mean prediction and outcome, with limits that hold together at every look"
        f" ({level_words(report.settings.confidence_level)})",
        status.estimates,
        {
            "rows": lambda e: e.window,
            "predicted": lambda e: f"{e.mean_predicted:.4f}",
            "observed": lambda e: f"{e.mean_observed:.4f}",
            _DEVIATION: lambda e: signed(e.deviation),
            "limits": lambda e: signed_limits(e.low, e.high),
        },
    )
    for note in status.notes:
        yield Paragraph(f"{note}.", "note")


def _changes(report: MonitorReport) -> Iterator[Block]:
    """What is new since an earlier look."""
    before = report.before
    if before is None:
        return
    now = look_of(report)
    for text in news(before, now):
        yield Paragraph(text)
    more = now.n_samples - (before.n_samples if before.epoch == now.epoch else 0)
    rows = (
        ("rows counted", f"{before.n_samples:,}", f"{now.n_samples:,}"),
        ("batches", f"{before.n_batches:,}", f"{now.n_batches:,}"),
        ("up to", before.up_to or MISSING, now.up_to or MISSING),
        ("alarm", "yes" if before.alarm else "no", "yes" if now.alarm else "no"),
        ("largest evidence", _evidence(before.max_e_value), _evidence(now.max_e_value)),
        (f"{_DEVIATION}, rolling window", _window(before), _window(now)),
        ("parts to blame", f"{len(before.blamed)}", f"{len(now.blamed)}"),
        ("promises broken", f"{len(before.broken)}", f"{len(now.broken)}"),
        ("predictions that wait", f"{before.n_waiting:,}", f"{now.n_waiting:,}"),
    )
    table = Table("Then and now", ("", "at the last look", "now"), rows)
    yield Fold(f"{more:,} more rows: then and now", (table,))


def _window(look: MonitorLook) -> str:
    if look.deviation is None or look.low is None or look.high is None:
        return MISSING
    return f"{signed(look.deviation)} ({signed_limits(look.low, look.high)})"


def _promises(report: MonitorReport) -> Iterator[Block]:
    """Promises and requirements, each with what is shown of it."""
    promises = report.status.promises
    if not promises:
        return
    yield Table.of(
        "Limits hold at every look together"
        f" ({level_words(report.settings.confidence_level)} each promise)",
        [(each, window) for each in promises for window in each.windows],
        {
            "promise": lambda pair: pair[0].promised,
            "state": lambda pair: pair[0].state,
            "of rows": lambda pair: pair[1].window,
            "rows counted": lambda pair: f"{pair[1].n_rows:,.0f}",
            "observed": lambda pair: number(pair[1].risk),
            "limits": lambda pair: limits(pair[1].low, pair[1].high),
        },
    )
    yield Paragraph(
        "Kept: the upper limit of the rolling window meets it. Broken: at some look a lower limit"
        " did not. Not shown either way: limits hold both possibilities.",
        "read",
    )


def _vector(report: MonitorReport) -> StreamEvidence | None:
    found = [s for s in report.status.streams if s.family == "vector"]
    return found[0] if found else None


def _vectors_short(report: MonitorReport) -> str:
    vector = _vector(report)
    if vector is None:
        return ""
    return "Blamed." if vector.alarmed_at is not None else "Not blamed."


def _vectors(report: MonitorReport) -> Iterator[Block]:
    """Bets on all probabilities of a row at once, beside those on the largest one."""
    vector = _vector(report)
    if vector is None:
        return
    blamed = "not to blame"
    if vector.alarmed_at is not None:
        blamed = f"to blame since {vector.alarmed_at}: {vector.direction}"
    yield Paragraph(f"All probabilities of a row together are {blamed}.")
    yield Paragraph(
        f"Evidence {_evidence(vector.e_value)}, at most {_evidence(vector.max_e_value)} so far;"
        f" blamed from {_evidence(vector.threshold)} on. Confidences may be right while other"
        " probabilities of a row are wrong: that is what this part sees and the others do not.",
        "read",
    )


def _online_short(report: MonitorReport) -> str:
    online = report.status.online
    return "" if online is None else f"{online.gain:+,.4g} nats against predictions as they come."


def _online(report: MonitorReport) -> Iterator[Block]:
    """What the map that learns makes of predictions today."""
    online = report.status.online
    if online is None:
        return
    yield Paragraph(online.verdict)
    yield Table(
        f"What becomes of predictions today: {online.event}",
        ("prediction", "becomes"),
        tuple(
            (f"{given:g}", f"{low:.3f}" if high - low < 5e-4 else f"{low:.3f} to {high:.3f}")
            for given, low, high in zip(online.given, online.low, online.high, strict=True)
        ),
    )


def _timeline(report: MonitorReport) -> Iterator[Block]:
    history = report.history
    if history is None:
        return
    status, window = report.status, report.settings.window
    yield Figure(
        "over-time",
        lambda: monitor_timeline(history, status, window),
        f"{report.status.event.capitalize()}. Above: observed minus predicted over the last"
        f" {window:,.0f} rows; the band holds the"
        " true mean deviation at all times together, so a band that leaves 0 is a finding. Below:"
        " the logarithm of the evidence; the alarm is raised where it first reaches the dashed"
        f" line, {1 / status.level:g} = 1 / level.",
    )
    yield Paragraph(
        "Neighbouring batches share a point, the more the older they are. The alarm weighs the"
        " evidence of all parts of the rows and all kinds of miscalibration, and so may be raised"
        " while the mean deviation is near 0.",
        "note",
    )


def _reliability(report: MonitorReport) -> Iterator[Block]:
    curves = report.curves
    if not curves:
        return
    window = report.settings.window
    yield Figure(
        "before-and-now",
        lambda: reliability_chart(curves, title="Reliability before and now"),
        "Of all rows where the model said x, which share came true? A calibrated model lies on"
        f" the diagonal. Now: the last {window:,.0f} rows or a few more; before: all rows that"
        " came earlier. Bars are limits of 95 % for this look alone.",
    )


def _parts(report: MonitorReport) -> Iterator[Block]:
    streams = report.status.streams
    if not streams:
        return
    yield Paragraph(
        "Nearest to being blamed first. A part is blamed when its largest evidence reaches its"
        " threshold, which is corrected for the number of parts: the probability that any"
        f" part is ever blamed wrongly is at most {level_words(report.status.level)}.",
        "read",
    )
    yield Table.of(
        "Evidence of each part",
        streams,
        {
            "part": lambda s: short(f"{FAMILIES[s.family]} {s.name}".strip(), _LONGEST),
            "blamed": lambda s: _blame(s),
            "rows": lambda s: f"{s.n_rows:,.0f}",
            _DEVIATION: lambda s: signed(s.deviation),
            "limits": lambda s: signed_limits(s.low, s.high),
            "evidence": lambda s: _evidence(s.e_value),
            "largest": lambda s: _evidence(s.max_e_value),
            "threshold": lambda s: _evidence(s.threshold),
        },
        shown=_MOST_PARTS,
    )


def _blame(s: StreamEvidence) -> str:
    return MISSING if s.alarmed_at is None else f"{s.alarmed_at}: {s.direction}"


def _waiting(report: MonitorReport) -> Iterator[Block]:
    if not report.n_waiting:
        return
    since = "" if report.waiting_since is None else f", the oldest since {report.waiting_since}"
    yield Paragraph(f"{report.n_waiting:,} predictions have no outcome yet{since}.")
    yield Paragraph(
        "Predictions made together are counted together, when the last outcome is known or the"
        " wait is declared over: counted as outcomes come, the class that is known sooner would"
        " look too frequent.",
        "note",
    )


def _maps(report: MonitorReport) -> Iterator[Block]:
    known = report.versions
    if not known.versions:
        return
    used = "predictions as they come" if known.current is None else f"version {known.current}"
    trial = "" if known.candidate is None else f" Version {known.candidate} is on trial beside it."
    yield Paragraph(f"In use: {used}.{trial} The sections above are about what is in use.")
    yield Table.of(
        "Maps that were fitted; trial evidence is that a map was better than the one in use",
        known.versions,
        {
            "version": lambda v: str(v.version),
            "map": lambda v: v.calibrator,
            "state": lambda v: v.state,
            "made at": lambda v: v.made_at,
            "fitted to rows": lambda v: f"{v.n_rows:,}",
            "trial rows": lambda v: f"{v.n_trial:,}",
            "trial evidence": lambda v: _evidence(v.e_value),
        },
    )
    if len(known.epochs) > 1:
        yield Table.of(
            "What was watched when; each has the level to itself",
            known.epochs,
            {
                "epoch": lambda e: str(e.epoch),
                "version": lambda e: MISSING if e.version is None else str(e.version),
                "rows": lambda e: f"{e.n_samples:,}",
                "up to": lambda e: e.ended_at or "goes on",
                "verdict": lambda e: e.verdict,
            },
        )


_TERMS = (
    (
        "evidence, e-value",
        "what a gambler would own who began with 1 and bet against the predictions at odds that"
        " are fair if they are right. Then it is 1 on average at any time, and reaches 1 / level"
        " ever with probability at most the level (Ville 1939; Ramdas, Gr\u00fcnwald, Vovk"
        " & Shafer 2023).",
    ),
    ("p-value at any time", "1 / largest evidence; valid whenever one looks, or stops."),
    (
        "alarm",
        "the weighted mean of the evidence of all rows, ranges of scores, classes, whole vectors"
        " and groups, with weights fixed beforehand, has reached 1 / level.",
    ),
    (
        "limits",
        "confidence sequences for the mean of y \N{MINUS SIGN} p given the past, from the"
        " empirical variance (Howard, Ramdas, McAuliffe & Sekhon 2021); those of all windows hold"
        " together, those of a part hold at all its looks.",
    ),
    (
        "over-confident, under-confident",
        "predictions too extreme (recalibration slope below 1), or not extreme enough. Of three"
        " or more classes: confidence above, or below, accuracy.",
    ),
    (
        "predictions too high, too low",
        "the outcome is less, or more, frequent than predicted.",
    ),
    (
        "since about",
        "the batch from which on one of the gambler's rival forecasts explains the data best; in"
        " brackets the batches that explain them nearly as well (within 3 nats). One change is"
        " assumed.",
    ),
)


def _appendix(report: MonitorReport) -> Iterator[Block]:
    settings, status = report.settings, report.status
    yield Terms(_TERMS)
    labels = MISSING if settings.labels is None else ", ".join(map(str, settings.labels[:20]))
    if settings.labels is not None and len(settings.labels) > 20:
        labels += f" and {len(settings.labels) - 20} more"
    yield Heading("Settings")
    yield Table(
        "Settings of the monitor",
        ("setting", "value"),
        (
            ("chance of a false alarm, ever", level_words(settings.level)),
            ("classes", labels),
            ("rolling window", f"{settings.window:,.0f} rows"),
            ("half-life of the weighted window", f"{settings.half_life:,.0f} rows"),
            ("confidence level of limits", level_words(settings.confidence_level)),
            ("largest evidence", _evidence(status.max_e_value)),
            ("p-value at any time", pvalue(status.pvalue) if status.pvalue else "< 1e-300"),
        ),
    )
    yield Heading("Versions")
    yield Table("Versions", ("package", "version"), tuple(settings.versions.items()))


def _evidence(value: float) -> str:
    if math.isinf(value):
        return "> 1e300"
    return f"{value:,.0f}" if 100 <= value < 1e6 else f"{value:.3g}"
