"""The page that lists all pages."""

from __future__ import annotations

from pathlib import Path

from veridical.experiments._catalogue import EXPERIMENTS
from veridical.experiments._page import markdown_table
from veridical.results import ExperimentResult

_INTRODUCTION = """\
# What of the literature holds

Each page regenerates the tables and figures of a source with this library, from seeds, beside the
printed values, and says what holds, what differs and why. `veridical experiment NAME -o FOLDER`
makes a page; `--quick` takes under a minute."""


def index_page(folder: Path) -> str:
    """Return the list of the pages that are in the folder, with their verdicts."""
    found = [
        ExperimentResult.from_json(path.read_text(encoding="utf-8"))
        for experiment in EXPERIMENTS
        if (path := folder / f"{experiment.name}.json").exists()
    ]
    table = markdown_table(
        {
            "experiment": [f"[{result.name}]({result.name}.md)" for result in found],
            "what": [result.title for result in found],
            "verdict": [result.verdict for result in found],
        },
        digits=0,
    )
    return f"{_INTRODUCTION}\n\n{table}\n"
