// Reliability diagrams by playing: a fake classifier whose truth is known, and a temperature to drag.

import { get, latest } from "./api.js";
import { showChart } from "./charts.js";
import { errorNotice, field, figures, fill, h, number, percent } from "./dom.js";

export const title = "Learn";
const start = { temperature: -0.35, rows: 2000, bins: 10, spread: 0, cost: 0.6, seed: 1 };
const chosen = { ...start };
const CASES = [["Calibrated", 0], ["Over-confident", -0.5], ["Under-confident", 0.45]];
const power = (position) => 10 ** Number(position);

export async function show(root) {
  const slider = (name, min, max, step) => h("input", { type: "range", min, max, step, value: chosen[name], id: `learn-${name}` });
  const controls = {
    temperature: slider("temperature", -0.65, 0.65, 0.01),
    rows: slider("rows", 100, 20000, 100),
    bins: slider("bins", 2, 50, 1),
    spread: slider("spread", -0.6, 0.9, 0.05), cost: slider("cost", -1, 1.5, 0.05),
  };
  const outputs = Object.fromEntries(Object.keys(controls).map((name) => [name, h("output", {})]));
  const place = h("div", { class: "chart-place", id: "lesson" });
  const measured = h("div", { id: "measured" });
  const words = h("div", { class: "card verdict", id: "words", "aria-live": "polite" });

  function tell() {
    outputs.temperature.textContent = power(chosen.temperature).toFixed(2);
    outputs.rows.textContent = chosen.rows.toLocaleString("en");
    outputs.bins.textContent = String(chosen.bins);
    outputs.spread.textContent = chosen.spread < -0.2 ? "mostly easy" : chosen.spread > 0.3 ? "mostly hard" : "mixed";
    outputs.cost.textContent = `${Number(power(chosen.cost).toPrecision(2))} : 1`;
    for (const name of Object.keys(controls)) controls[name].setAttribute("aria-valuetext", outputs[name].textContent);
  }
  const refresh = latest(async () => {
    try {
      const found = await get("learn", { temperature: power(chosen.temperature), spread: power(chosen.spread), rows: chosen.rows,
        n_bins: chosen.bins, seed: chosen.seed, cost_fn: power(chosen.cost) });
      fill(words, h("p", {}, sentence(power(chosen.temperature), found)));
      fill(measured, readout(found));
      showChart(place, found.chart);
    } catch (error) {
      fill(words, errorNotice(error));
    }
  });
  function change() {
    for (const name of Object.keys(controls)) chosen[name] = Number(controls[name].value);
    tell();
    return refresh();
  }
  for (const control of Object.values(controls)) control.addEventListener("input", change);
  const preset = ([name, temperature]) => h("button", { type: "button", on: { click: () => {
    controls.temperature.value = String(temperature);
    change();
  } } }, name);
  const again = h("button", { type: "button", on: { click: () => {
    chosen.seed += 1;
    refresh();
  } } }, "Draw other rows");
  tell();
  fill(root,
    h("h1", {}, "Learn to read a reliability diagram"),
    h("p", { class: "lead" },
      "A probability means what it says if, of all cases that were given 70 %, seven in ten happen. " +
      "Here is a classifier that is not real, so the truth is known. Drag its temperature and see what " +
      "moves, and what does not."),
    h("div", { class: "row field" }, CASES.map(preset), again),
    words,
    h("div", { class: "columns side" },
      h("section", { class: "card", "aria-label": "The fake classifier" },
        h("h2", {}, "The fake classifier"),
        field("Temperature", controls.temperature, { output: outputs.temperature, hint:
          "below 1 it exaggerates, above 1 it is timid; 1 is the truth" }),
        field("Rows", controls.rows, { output: outputs.rows, hint: "few rows make a noisy curve" }),
        field("Bins", controls.bins, { output: outputs.bins }),
        field("Cases", controls.spread, { output: outputs.spread }),
        field("Cost of a miss : false alarm", controls.cost, { output: outputs.cost })),
      h("section", { class: "card", "aria-label": "Reliability diagram" },
        h("div", { class: "with-facts" }, place,
          h("div", { class: "facts" }, h("h2", {}, "What moves with it"), measured)))),
    h("section", { class: "card", "aria-label": "How to read it" }, h("h2", {}, "How to read it"), lessons()));
  await change();
}

function sentence(temperature, found) {
  const noise = found.ece.value <= found.ece.null_q95 ?
    " The error measured is no more than chance would make of a calibrated model." : "";
  if (Math.abs(temperature - 1) < 0.03) return `It says the truth: points lie on the diagonal, up to chance.${noise}`;
  const way = temperature < 1
    ?
      "Over-confident: it says things too close to 0 and 1. Points lie below the diagonal on the right " +
      "and above it on the left."
    :
      "Under-confident: it stays too close to one half. Points lie above the diagonal on the right and " +
      "below it on the left.";
  return `${way}${noise}`;
}

function readout(found) {
  const extra = found.cost - found.best_cost;
  const more = extra >= 0 ? `${number(extra)} more` : `${number(-extra)} less`;
  return figures([
    ["ECE measured", number(found.ece.value), `calibrated: up to ${number(found.ece.null_q95)} by chance`, "learn-ece"],
    ["ECE in truth", number(found.true_ece), "mean of |truth − said|"],
    ["Log score", number(found.scores.log), `the truth would have ${number(found.best_scores.log)}`, "learn-log"],
    ["Brier score", number(found.scores.brier), `the truth would have ${number(found.best_scores.brier)}`],
    ["Accuracy", percent(found.accuracy), "does not move with temperature"],
    ["AUC", number(found.auc), "does not move: the order stays"],
    ["Act above", number(found.threshold, 3), `acts on ${percent(found.acts)}, should on ${percent(found.should_act)}`],
    ["Cost a case", number(found.cost), `promised ${number(found.promised)}; ${more} than by the truth`, "learn-cost"],
  ]);
}

function lessons() {
  const part = (name, text) => [h("h3", {}, name), h("p", {}, text)];
  return h("div", { class: "stack" },
    h("div", {}, part("The points",
      "Cases with similar predictions are put into a bin. Across: what was said on average. Up: how " +
      "often it happened. On the diagonal the two agree; below it, less happened than was said.")),
    h("div", {}, part("The bars on the points",
      "With few cases a frequency is uncertain. A bar that reaches the diagonal is no evidence against " +
      "the model.")),
    h("div", {}, part("The histogram",
      "A gap where no predictions are does not matter. Look at where the cases are.")),
    h("div", {}, part("ECE",
      "The mean distance from the diagonal, weighted by cases. It is never zero: with few rows or many " +
      "bins, chance alone makes one. Take the temperature to 1, rows to 100 and bins to 50 to see it; " +
      "so compare it with what a calibrated model would show.")),
    h("div", {}, part("Scores",
      "The log and Brier score judge calibration and knowledge together. Over-confidence costs; " +
      "accuracy and AUC do not notice, because the order of the cases is the same.")),
    h("div", {}, part("Decisions",
      "If a miss costs four times a false alarm, act from one in five on. An over-confident model says " +
      "“one in a hundred” where it is one in ten, and the case is missed. Move the cost and see where " +
      "it hurts.")));
}
