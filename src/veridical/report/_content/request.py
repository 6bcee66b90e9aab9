"""What a report was asked for: the forms of data it takes, and options checked once."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from veridical._core.data.randomness import check_resamples
from veridical._core.data.reading import AS_IT_IS
from veridical._core.data.validation import check_level, is_integer
from veridical.binning import UniformBins
from veridical.evaluation.core import Measuring
from veridical.evaluation.data import DataRequest, Source, read_models, searched
from veridical.exceptions import invalid
from veridical.inference.core import Margin, check_margin
from veridical.lenses import Lens
from veridical.lenses.reading import RawData

CALLER = "make_report"
MARGINS = ("5%", "10%", "20%", "50%")  # of the base rate
_MOST_LABELS = 20


@dataclass(frozen=True)
class Options:
    """What figures depend on beside the data."""

    n_bins: Any
    confidence_level: float
    n_resamples: int
    seed: int
    margins: tuple[Margin, ...]

    @property
    def level(self) -> float:
        """Level of tests."""
        return self.measured.judging.level

    @property
    def measured(self) -> Measuring:
        """What an evaluation depends on."""
        return Measuring(self.n_bins, self.confidence_level, self.n_resamples, self.seed)

    @property
    def measuring(self) -> dict[str, Any]:
        """The same as evaluations and comparisons take it."""
        return {
            "n_bins": self.n_bins,
            "confidence_level": self.confidence_level,
            "n_resamples": self.n_resamples,
            "rng": self.seed,
        }


@dataclass(frozen=True, kw_only=True)
class ReportRequest(RawData):
    """Arguments of `make_report`: data, whose `y_true` or `prob` may name models, and options."""

    prob: Any = None
    lens: Any
    n_bins: Any
    confidence_level: float
    n_resamples: int
    margins: tuple[float | str, ...] = MARGINS
    rng: int | None
    title: str | None
    date: str | None
    author: str | None = None
    period: str | None = None
    purpose: str | None = None
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
    engine: str

    @property
    def paths(self) -> list[Path]:
        """Where the report is to be written, in any number of forms."""
        if self.path is None:
            return []
        one = isinstance(self.path, (str, os.PathLike))
        return [Path(self.path)] if one else [Path(each) for each in self.path]  # type: ignore[arg-type, union-attr]

    def options(self) -> Options:
        """Check the options, before anything is read."""
        options = Options(
            n_bins=self.n_bins,
            confidence_level=check_level(CALLER, self.confidence_level),
            n_resamples=check_resamples(self.n_resamples, caller=CALLER),
            seed=_seed(self.rng),
            margins=tuple(check_margin(margin, caller=CALLER) for margin in self.margins),
        )
        UniformBins(self.n_bins)  # refuses a bad number
        return options

    def read(self) -> dict[str, Source]:
        """Read whichever form was given: the data of every model, of a single one named ""."""
        options: dict[str, Any] = {"lens": self.lens, "n_bins": self.n_bins, "caller": CALLER}
        names = ("labels", "pos_label", "by", "groups", "features", "sample_weight", "reading")
        asked = self._searched()
        beside = {name: getattr(asked, name) for name in names}
        if isinstance(self.y_true, Mapping):
            _check_names(self.y_true, "y_true")
            if self.y_prob is None:
                hint = f'pass `{CALLER}({{"a": p_a, "b": p_b}}, y_true)`.'
                raise invalid(CALLER, "y_prob", "the labels, after the models", "None", hint=hint)
            if self.y is not None or self.prob is not None:
                hint = f"pass `{CALLER}(y_true, y_prob)` or `{CALLER}(frame, y=..., prob=...)`."
                got = "both arrays and column names"
                raise invalid(CALLER, "y", "unset when arrays are given", got, hint=hint)
            request = DataRequest(RawData(self.y_prob, **beside), **options)
            return dict(read_models(self.y_true, request, param="y_true").sources)
        if isinstance(self.prob, Mapping):
            _check_names(self.prob, "prob")
            if self.y_prob is not None:
                hint = f'pass `{CALLER}({{"a": p_a, "b": p_b}}, y_true)`, or columns of a frame.'
                raise invalid(CALLER, "prob", "unset when arrays are given", "a mapping", hint=hint)
            request = DataRequest(RawData(self.y_true, y=self.y, **beside), **options)
            return dict(read_models(self.prob, request, param="prob").sources)
        return {"": DataRequest(asked, **options).read(self.engine)}

    def _searched(self) -> RawData:
        """The same with all other columns as features, if segments are to be searched."""
        if not (isinstance(self.by, str) and self.by == "auto"):
            return self
        if isinstance(self.y_true, Mapping):
            hint = "arrays have no other columns: pass a frame, and name the models' columns."
            raise invalid(CALLER, "by", 'a frame or a file for "auto"', "arrays", hint=hint)
        found = searched(self, caller=CALLER)
        if isinstance(self.prob, Mapping):  # predictions of other models are no features
            columns = [
                f"!{name}"
                for each in self.prob.values()
                for name in ([each] if isinstance(each, str) else each)
            ]
            found = replace(found, features=["*", *columns])
        return found

    @property
    def heading(self) -> str:
        """Heading of the page, by default after the file."""
        name = Path(self.y_true).name if self._is_file else ""
        return self.title or (f"Calibration report: {name}" if name else "Calibration report")

    @property
    def source(self) -> str:
        """File, or what was given, in words."""
        if self._is_file:
            return os.fspath(self.y_true)
        if isinstance(self.y_true, Mapping) or self.y_prob is not None:
            return "arrays"
        return f"{type(self.y_true).__name__} in memory"

    @property
    def _is_file(self) -> bool:
        return isinstance(self.y_true, (str, os.PathLike))

    def call(self, options: Options) -> str:
        """Return a few lines that run as they stand where the data came from a file."""
        arguments = {
            **self._data_arguments(),
            "n_bins": repr(options.n_bins),
            "confidence_level": repr(options.confidence_level),
            "n_resamples": repr(options.n_resamples),
            "margins": repr(self.margins),
            "rng": repr(options.seed),
        }
        lens = self.lens
        imports = [f"from veridical import {type(lens).__name__}"] if isinstance(lens, Lens) else []
        return "\n".join(
            [
                "import veridical",
                *imports,
                "",
                "report = veridical.make_report(",
                f"    {self._data_text()},",
                *(f"    {name}={value}," for name, value in arguments.items()),
                ")",
                "print(report.headline)",
                'report.save("report.html")',
            ]
        )

    def shell(self) -> dict[str, str]:
        """File and columns of each model as the commands take them; none for arrays and frames."""
        if not self._is_file:
            return {}
        models = dict(self.prob) if isinstance(self.prob, Mapping) else {"": self.prob}
        usual, how = asdict(AS_IT_IS), asdict(self.how)
        changed = {name: how[name] for name in ("scale", "missing") if how[name] != usual[name]}
        beside = {"--weight": self.sample_weight} | {f"--{n}": v for n, v in changed.items()}
        if self.labels is not None:
            beside["--labels"] = np.asarray(self.labels).tolist()
        shared = [_option(name, value) for name, value in beside.items()]
        flags = ["--normalize"] if how["normalize"] != usual["normalize"] else []
        file, outcome = shlex.quote(self.source), _option("--y", self.y)
        return {
            name: " ".join(filter(None, [file, outcome, _option("--prob", prob), *shared, *flags]))
            for name, prob in models.items()
        }

    def shell_positive(self) -> str:
        """The positive class in the same way, "" if none was named."""
        return _option("--pos-label", self.pos_label)

    def shell_by(self) -> str:
        """Subgroups and rows that belong together in the same way, "" if they are no columns."""
        asked = {"--by": self.by, "--groups": self.groups}
        return " ".join(_option(name, value) for name, value in asked.items() if _is_columns(value))

    def _data_text(self) -> str:
        """Python of the data; arrays are names only, since they are not in the page."""
        if self._is_file:
            return repr(self.source)
        if isinstance(self.y_true, Mapping):
            return "{" + ", ".join(f"{name!r}: ..." for name in self.y_true) + "}, y_true"
        return "frame" if self.y_prob is None else "y_true, y_prob"

    def _data_arguments(self) -> dict[str, str]:
        """Python of the arguments that say what the data are, without those that were left out."""
        prob = dict(self.prob) if isinstance(self.prob, Mapping) else self.prob
        values = {"y": self.y, "prob": prob, "sample_weight": self.sample_weight, "by": self.by}
        values |= {"groups": self.groups}
        values |= {"lens": self.lens, "labels": self.labels, "pos_label": self.pos_label}
        found = {name: repr(value) for name, value in values.items() if value is not None}
        usual, how = asdict(AS_IT_IS), asdict(self.how)
        found |= {name: repr(how[name]) for name in how if how[name] != usual[name]}
        for name in ("sample_weight", "by", "groups"):
            if name in found and not _is_columns(values[name]):
                found[name] = name
        if self.labels is not None:
            listed = np.asarray(self.labels).tolist()
            found["labels"] = repr(listed) if len(listed) <= _MOST_LABELS else "labels"
        return found


def _option(name: str, value: Any) -> str:
    """An option of a command, "" if it was left out."""
    if value is None:
        return ""
    text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return f"{name} {shlex.quote(text)}"


def guesses(sources: Mapping[str, Source]) -> str:
    """What was guessed about columns and done to values, each thing once."""
    said = [one for s in sources.values() for one in ([s.guessed] if s.guessed else []) + [*s.said]]
    return "; ".join(dict.fromkeys(said))


def _seed(rng: Any) -> int:
    if rng is None:
        return 0
    if not is_integer(rng) or rng < 0:
        hint = "a report names its seed, so pass an integer such as 0."
        raise invalid(CALLER, "rng", "a non-negative integer or None", repr(rng), hint=hint)
    return int(rng)


def _check_names(models: Mapping[Any, Any], param: str) -> None:
    if not models or not all(isinstance(name, str) for name in models):
        hint = 'for instance {"forest": p_forest, "boosting": p_boosting}.'
        got = "an empty mapping" if not models else "other keys"
        raise invalid(CALLER, param, "models named by strings", got, hint=hint)


def _is_columns(value: Any) -> bool:
    listed = isinstance(value, (list, tuple)) and len(value) < 10
    return isinstance(value, str) or (listed and all(isinstance(each, str) for each in value))
