// What costs of errors, and another share of positives, make of the predictions.

import { get, latest } from "./api.js";
import { showChart } from "./charts.js";
import { errorNotice, field, figures, fill, h, interval, number, percent, select } from "./dom.js";
import { stageNames } from "./evaluate.js";

export const title = "Decide";
const chosen = { id: null, fp: 0, fn: 0, prior: null, place: null, stage: "after" };

// Costs and odds are read on a log scale: a slider at 0 is one to one.
const costAt = (position) => Number((10 ** Number(position)).toPrecision(2));
const shareAt = (position) => 1 / (1 + Math.exp(-Number(position)));

export async function show(root, app) {
  const used = app.state.current;
  if (chosen.id !== used.id) Object.assign(chosen, { id: used.id, prior: null, place: used.n_classes - 1 });
  const fp = h("input", { type: "range", min: -2, max: 2, step: 0.05, value: chosen.fp });
  const fn = h("input", { type: "range", min: -2, max: 2, step: 0.05, value: chosen.fn });
  const prior = h("input", { type: "range", min: -6, max: 6, step: 0.05 });
  const said = { fp: h("output", {}), fn: h("output", {}), prior: h("output", {}) };
  const place = select(used.classes.map((label, i) => [i, label]), chosen.place);
  const stage = select(stageNames(used), used.picked ? chosen.stage : "before");
  const reset = h("button", { type: "button" }, "As in the data");
  const result = h("div", { id: "decision", "aria-live": "polite" });
  const chart = h("div", { class: "chart-place", id: "benefit" });

  const refresh = latest(async () => {
    chart.classList.add("busy");
    try {
      const found = await get("decide", { cost_fp: costAt(chosen.fp), cost_fn: costAt(chosen.fn),
        prior: chosen.prior === null ? null : shareAt(chosen.prior), class: chosen.place, stage: chosen.stage });
      if (chosen.prior === null) prior.value = String(Math.log(found.share / (1 - found.share)));
      tell(found.prior);
      fill(result, readout(found, chosen.prior !== null));
      showChart(chart, found.chart);
    } catch (error) {
      fill(result, errorNotice(error));
    } finally {
      chart.classList.remove("busy");
    }
  });

  function tell(share) {
    said.fp.textContent = String(costAt(chosen.fp));
    said.fn.textContent = String(costAt(chosen.fn));
    said.prior.textContent = percent(share);
    fp.setAttribute("aria-valuetext", said.fp.textContent);
    fn.setAttribute("aria-valuetext", said.fn.textContent);
    prior.setAttribute("aria-valuetext", said.prior.textContent);
  }

  function change(from) {
    Object.assign(chosen, { fp: Number(fp.value), fn: Number(fn.value), place: Number(place.value), stage: stage.value });
    if (from === prior) chosen.prior = Number(prior.value);
    if (from === place) chosen.prior = null;
    tell(shareAt(prior.value));
    return refresh();
  }
  for (const control of [fp, fn, prior]) control.addEventListener("input", () => change(control));
  for (const control of [place, stage]) control.addEventListener("change", () => change(control));
  reset.addEventListener("click", () => {
    chosen.prior = null;
    refresh();
  });
  if (chosen.prior !== null) prior.value = String(chosen.prior);
  fill(root,
    h("h1", {}, "Decide"),
    h("p", { class: "lead" },
      "To act as if a case were positive costs something if it is not; not to act costs something if it" +
      " is. From these two costs follows the probability above which to act, if probabilities mean what" +
      " they say."),
    h("div", { class: "columns side" },
      h("section", { class: "card", "aria-label": "Settings" },
        h("h2", {}, "What if …"),
        used.binary ? null : field("Class", place, { hint: "against all others" }),
        field("Cost of a false alarm", fp, { output: said.fp }),
        field("Cost of a miss", fn, { output: said.fn }),
        field("Share of positives where it is used", prior, { output: said.prior, hint:
          "moved by adjusting the probabilities: cases of a class look as they do here" }),
        h("p", { class: "field" }, reset),
        used.picked ? field("Predictions", stage) : null),
      h("div", { class: "stack" }, h("section", { class: "card", "aria-label": "Decision" }, result),
        h("section", { class: "card", "aria-label": "Net benefit" }, chart))));
  await change(null);
}

function readout(found, moved) {
  const rule = `Act on “${found.label}” above a probability of ${number(found.threshold, 3)}`;
  const asGiven = moved ? `; that is ${number(found.threshold_as_given, 3)} on the scale of the predictions as they are` : "";
  const better = found.cost.estimate <= found.constant
    ? `That costs less than “${found.constant_action}” for everybody (${number(found.constant)}).`
    : `“${found.constant_action}” for everybody would cost less (${number(found.constant)}).`;
  const items = [
    ["Threshold", number(found.threshold, 3), "of the probability", "threshold"],
    ["Cases acted on", percent(found.called)],
    ["Cost a case", number(found.cost.estimate), interval(found.cost.low, found.cost.high), "cost"],
    ["Cost the model promised", number(found.promised), "as much as came, if calibrated"],
    ["Cost with perfect knowledge", number(found.perfect)],
    ["Net benefit", number(found.benefit.value), `acting always ${number(found.benefit.all)}, never 0`, "net-benefit"],
  ];
  if (moved) items.splice(3, 0, ["Without adjusting", number(found.not_adjusted), "same costs, probabilities as they are"]);
  return [h("h2", {}, `${rule}${asGiven}.`), h("p", {}, better), figures(items),
    found.notes.length ? h("ul", { class: "soft small" }, found.notes.map((note) => h("li", {}, note))) : null].filter(Boolean);
}
