// The evaluation of the data in use. What has bins follows the slider; the rest is asked for once.

import { get, latest } from "./api.js";
import { showChart } from "./charts.js";
import { announce, errorNotice, field, figures, fill, h, interval, number, pvalue, select, table, whole } from "./dom.js";

export const title = "Evaluate";
const METHODS = [["auto", "chosen for these rows"], ["bins uniform", "bins of equal width"], ["bins quantile", "bins of equal mass"],
  ["isotonic", "isotonic, no bins"], ["smooth", "smooth, no bins"], ["density", "from densities, no bins"]];
const chosen = { lens: null, way: "auto", bins: 15, stage: "before", id: null };

export async function show(root, app) {
  const used = app.state.current;
  if (chosen.id !== used.id || !used.lenses.includes(chosen.lens)) Object.assign(chosen, { id: used.id, lens: used.lenses[0] });
  if (!used.picked) chosen.stage = "before";
  const lens = select(used.lenses, chosen.lens);
  const way = select(METHODS, chosen.way);
  const bins = h("input", { type: "range", min: 2, max: app.state.most_bins, step: 1, value: chosen.bins });
  const shown = h("output", {}, String(chosen.bins));
  const stage = select(stageNames(used), chosen.stage);
  const verdict = h("div", { class: "card verdict", id: "verdict", "aria-live": "polite" }, h("p", {}, "Measuring …"));
  const place = h("div", { class: "chart-place", id: "reliability" });
  const facts = h("div", { class: "facts" });
  const errors = h("div", { id: "errors" });
  const whole_ = h("div", { id: "figures", class: "stack" }, h("p", { class: "soft" }, "Scores are computed …"));
  const groups = h("div", {});
  let beside = []; // errors without bins, known once the figures are there
  let binned = [];

  const refresh = latest(async () => {
    const [method, strategy] = chosen.way.split(" ");
    place.classList.add("busy");
    try {
      const found = await get("live", { lens: chosen.lens, stage: chosen.stage, method, strategy, n_bins: chosen.bins });
      fill(verdict, h("p", {}, found.verdict));
      fill(facts, meansOf(found));
      binned = found.errors;
      fill(errors, errorTable(binned, beside));
      showChart(place, found.chart);
    } catch (error) {
      fill(verdict, errorNotice(error));
    } finally {
      place.classList.remove("busy");
    }
  });
  const refreshWhole = latest(async () => {
    try {
      const found = await get("figures", { lens: chosen.lens, stage: chosen.stage });
      beside = found.errors;
      fill(whole_, wholeFigures(found));
      fill(errors, errorTable(binned, beside));
    } catch (error) {
      fill(whole_, errorNotice(error));
    }
  });

  function change() {
    Object.assign(chosen, { lens: lens.value, way: way.value, bins: Number(bins.value), stage: stage.value });
    shown.textContent = String(chosen.bins);
    bins.disabled = !chosen.way.startsWith("bins");
    return refresh();
  }
  bins.addEventListener("input", change);
  way.addEventListener("change", change);
  for (const control of [lens, stage]) {
    control.addEventListener("change", () => {
      beside = [];
      change();
      refreshWhole();
    });
  }
  fill(root,
    h("h1", {}, "Evaluate"),
    verdict,
    h("div", { class: "columns side" },
      h("section", { class: "card", "aria-label": "Settings" },
        h("h2", {}, "Look at it through"),
        field("Lens", lens, { hint: lensHint(used) }),
        field("Reliability curve", way),
        field("Bins", bins, { output: shown }),
        used.picked ? field("Predictions", stage) : null),
      h("section", { class: "card", "aria-label": "Reliability diagram" },
        h("div", { class: "with-facts" }, place, facts))),
    h("section", { class: "card", "aria-label": "Calibration errors" }, h("h2", {}, "Calibration errors"), errors,
      h("p", { class: "soft small" },
        "“A calibrated model” has the same predictions and outcomes drawn from them: it shows an error " +
        "too, by chance. Only what is beyond it is a sign of miscalibration.")),
    h("section", { class: "card", "aria-label": "Scores" }, h("h2", {}, "Scores"), whole_),
    groups);
  await Promise.all([change(), refreshWhole(), used.by ? showGroups(groups, used.by) : null]);
  announce(verdict.textContent);
}

export function stageNames(used) {
  return used.picked ? [["before", "as given"], ["after", `after ${used.picked}`]] : [["before", "as given"]];
}

function lensHint(used) {
  return used.binary ? "binary: the positive class; confidence: the class that is said to be more probable"
    : "confidence: the most probable class; classwise: every class against the rest";
}

function meansOf({ means, errors }) {
  const { slope } = means;
  const [first] = errors;
  return figures([
    [first.name, number(first.value), first.null_q95 === null ? "" : `calibrated: up to ${number(first.null_q95)}`, "headline-error"],
    ["Predicted", number(means.predicted), `on average, ${means.lens}`],
    ["Observed", number(means.observed), `on average, ${means.lens}`],
    slope ? ["Slope", number(slope.value, 3), `${interval(slope.low, slope.high, 3)}; 1 is right, less is too extreme`] : null,
  ].filter(Boolean));
}

export function errorTable(binned, beside) {
  const others = beside.filter((error) => !binned.some((each) => each.name === error.name));
  const rows = [...binned, ...others].map((error) => [
    [error.name, error.definition], number(error.value), interval(error.low, error.high) || "–",
    number(error.null_mean), number(error.null_q95), pvalue(error.pvalue)]);
  return table("Errors with their 95 % intervals, and what a calibrated model would read",
    ["error", "value", "interval", "calibrated: mean", "95 % up to", "p"], rows);
}

function wholeFigures(found) {
  const auc = found.several ? "mean of one against the rest" : "1 is perfect, 0.5 chance";
  const known = found.scores.some((score) => score.parts);
  const parts = ["miscalibration", "discrimination", "uncertainty"];
  const rows = found.scores.map(({ name, value, parts: own }) => [name === "brier" ? "Brier" : name,
    h("span", { id: `score-${name}` }, number(value)), ...(known ? parts.map((part) => number(own?.[part])) : [])]);
  return [
    figures([["Rows", whole(found.n_samples)], ["Accuracy", number(found.accuracy)], ["AUC", number(found.auc), auc]]),
    table(known ? "Lower is better; score = miscalibration − discrimination + uncertainty" : "Lower is better",
      ["score", "mean", ...(known ? parts : [])], rows),
    found.notes.length ? h("ul", { class: "soft small" }, found.notes.map((note) => h("li", {}, note))) : null,
  ].filter(Boolean);
}

async function showGroups(place, by) {
  const found = await get("groups", {});
  const rows = found.groups.map((group) => [group.group, whole(group.rows), number(group.predicted), number(group.observed),
    number(group.value), number(group.null_q95), pvalue(group.adjusted)]);
  const cut = found.left_out ? ", the first 50 only" : "";
  fill(place, h("section", { class: "card", "aria-label": "Groups" }, h("h2", {}, `By ${by}`),
    table(`Worst first${cut}; p-values are corrected for all that was tested`,
      ["group", "rows", "predicted", "observed", "ECE", "calibrated: 95 % up to", "p"], rows)));
}
