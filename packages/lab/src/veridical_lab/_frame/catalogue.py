"""The experiments there are."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.page import Page


@dataclass(frozen=True)
class Experiment:
    """One reproduction: what of, and how long it takes.

    Attributes
    ----------
    name : as the command line spells it
    title : what is reproduced, in a line
    source : paper or chapter, with its identifier
    cited : the source in two words
    minutes : of the full run on two cores
    takes_data : whether it reads files of predictions given to it
    """

    name: str
    title: str
    source: str
    cited: str
    minutes: float
    takes_data: bool = False

    @property
    def run(self) -> Callable[[Laboratory, Page], None]:
        """The function that does the work, imported only now."""
        module = importlib.import_module(f"veridical_lab.{self.name.replace('-', '_')}.run")
        return module.run


# Each paper or chapter with its identifier, and in two words.
_SURVEY = (
    "Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull and Flach (2023), Classifier "
    "calibration: a survey on how to assess and improve predicted class probabilities, "
    "doi:10.1007/s10994-023-06336-7",
    "Silva Filho et al. (2023)",
)
_ESTIMATORS = (
    "Posocco and Bonnefoy (2021), Estimating expected calibration errors, arXiv:2109.03480",
    "Posocco & Bonnefoy (2021)",
)
_EVALUATING = (
    "Vaicenavicius, Widmann, Andersson, Lindsten, Roll and Schön (2019), Evaluating model "
    "calibration in classification, arXiv:1902.06977",
    "Vaicenavicius et al. (2019)",
)
_REVIEW = ("Panchenko (2021), Calibration of classifiers, appliedAI", "Panchenko (2021)")
_CHAPTER = (
    "Probability calibration, chapter 86 of a textbook of machine learning",
    "a textbook, chapter 86",
)
_ARENA = (
    "Berta, Holzmüller, Bach and Jordan (2026), CalArena: a large-scale post-hoc calibration "
    "benchmark, arXiv:2605.30188; probmetrics 1.3.0",
    "Berta et al. (2026)",
)

EXPERIMENTS = (
    Experiment("survey-toy", "Worked examples of the survey, recomputed", *_SURVEY, 1),
    Experiment("survey-binary", "Two classes whose truth is known", *_SURVEY, 3),
    Experiment("survey-multiclass", "Three classes whose truth is known", *_SURVEY, 4),
    Experiment("estimators", "Which estimator of the ECE to trust", *_ESTIMATORS, 10),
    Experiment(
        "evaluating", "Lenses, distances, bins and consistency", *_EVALUATING, 5, takes_data=True
    ),
    Experiment("fake", "Classifiers made to measure", *_REVIEW, 10, takes_data=True),
    Experiment("chapter", "One draw against two hundred", *_CHAPTER, 2),
    Experiment("arena", "Tables that others made", *_ARENA, 10),
)
