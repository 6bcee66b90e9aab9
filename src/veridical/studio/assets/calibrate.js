// Fit calibrators to the data in use, compare them on rows they have not seen, choose one.

import { get, post, remove } from "./api.js";
import { showChart } from "./charts.js";
import { announce, errorNotice, field, figures, fill, h, interval, notice, number, pvalue, table, whole } from "./dom.js";

export const title = "Calibrate";
const POLL = 300; // milliseconds between questions about progress

export async function show(root, app) {
  const { methods } = await get("methods");
  const ticks = methods.map((method) => ({ ...method,
    box: h("input", { type: "checkbox", value: method.name, checked: method.suggested }) }));
  const folds = h("input", { type: "number", min: 2, max: 20, value: 5 });
  const fit = h("button", { type: "submit", class: "main" }, "Fit and compare");
  const stop = h("button", { type: "button", disabled: true }, "Cancel");
  const status = h("div", { id: "progress", "aria-live": "polite" });
  const result = h("div", { id: "comparison" });
  let timer = null;
  let here = true;

  function running(on) {
    fit.disabled = on;
    stop.disabled = !on;
  }

  async function follow() {
    const known = await get("fit");
    if (!here) return;
    if (known.state === "running") {
      running(true);
      fill(status, h("p", {}, `${known.what} (${known.done} of ${known.total})`),
        h("progress", { max: known.total, value: known.done, "aria-label": "Progress of the fit" }));
      timer = setTimeout(() => follow().catch(failed), POLL);
      return;
    }
    running(false);
    fill(status);
    if (known.state === "failed") fill(status, notice(known.error, known.hint, true));
    if (known.state === "cancelled") fill(status, notice("Cancelled."));
    if (known.state === "done") await showResult(result, known.result, app);
  }

  function failed(error) {
    running(false);
    fill(status, errorNotice(error));
  }

  async function start(event) {
    event.preventDefault();
    fill(result);
    try {
      const wanted = ticks.filter((tick) => tick.box.checked).map((tick) => tick.name);
      await post("fit", { methods: wanted, folds: Number(folds.value) });
      await follow();
    } catch (error) {
      failed(error);
    }
  }
  stop.addEventListener("click", async () => {
    clearTimeout(timer);
    await remove("fit");
    follow().catch(failed);
  });
  const common = ticks.filter((tick) => tick.suggested);
  const others = ticks.filter((tick) => !tick.suggested);
  fill(root,
    h("h1", {}, "Calibrate"),
    h("p", { class: "lead" },
      "A calibrator is a map from what the model says to what is so. Each is fitted to parts of the " +
      "rows and judged on the part left out; then it is fitted to all rows. Use rows the model was not " +
      "trained on."),
    h("form", { class: "card", on: { submit: start } },
      h("fieldset", {}, h("legend", {}, "Calibrators"), h("div", { class: "ticks" }, common.map(tickLabel))),
      h("details", { class: "field" }, h("summary", {}, `${others.length} more`),
        h("div", { class: "ticks" }, others.map(tickLabel))),
      h("div", { class: "columns" }, field("Folds", folds, { hint: "parts held out one after the other" })),
      h("div", { class: "row" }, fit, stop), status),
    result);
  await follow();
  return () => {
    here = false;
    clearTimeout(timer);
  };
}

function tickLabel({ name, about, box }) {
  return h("label", {}, box, h("span", {}, h("b", {}, name), h("span", {}, about)));
}

async function showResult(place, found, app) {
  const chart = h("div", { class: "chart-place", id: "before-after" });
  const picked = h("div", { id: "picked", "aria-live": "polite" });
  const rows = found.rows.map((row) => [
    row.method, number(row.log),
    row.difference ? [number(row.difference.value, 5), interval(row.difference.low, row.difference.high, 5)] : "–",
    number(row.brier), number(row.ece.value), number(row.ece.null_q95), pvalue(row.pvalue),
    row.difference ? chooser(row.method) : ""]);

  function chooser(method) {
    return h("button", { type: "button", "aria-label": `Choose ${method}`, on: { click: () => choose(method) } }, "Choose");
  }

  async function choose(method) {
    try {
      const known = await post("pick", { method });
      await app.refresh();
      showPicked(known);
      announce(`${method} chosen.`);
      if (found.charts[method]) showChart(chart, found.charts[method]);
    } catch (error) {
      fill(picked, errorNotice(error));
    }
  }

  function showPicked(known) {
    const score = (side, name) => known[side].scores.find((each) => each.name === name).value;
    fill(picked, h("section", { class: "card", "aria-label": "Chosen calibrator" },
      h("h2", {}, `Chosen: ${known.method}`),
      h("p", { id: "explanation" }, known.explanation),
      h("p", { class: "soft small" },
        "On all rows, by the map fitted to all of them. These rows were fitted to, so this flatters the" +
        " map; the table above does not. The downloaded calibrator gives these figures."),
      figures([
        ["Log score", number(score("after", "log"), 6), `as given ${number(score("before", "log"), 6)}`, "picked-log"],
        ["Brier score", number(score("after", "brier"), 6), `as given ${number(score("before", "brier"), 6)}`, "picked-brier"],
        ["ECE, 15 bins", number(known.after.ece.value), `as given ${number(known.before.ece.value)}`, "picked-ece"]]),
      h("p", { class: "row" },
        h("a", { class: "button main", href: "#download" }, "Download it"),
        h("a", { class: "button", href: "#evaluate" }, "Evaluate it"))));
  }

  const difference = found.rows.some((row) => row.figure === "brier") ? "difference (Brier)" : "difference";
  const left = Object.entries(found.left_out);
  const tried = found.rows.slice(1);
  const best = tried.length ? tried.reduce((a, b) => (b.log < a.log ? b : a)) : null;
  fill(place,
    h("section", { class: "card", "aria-label": "Comparison" },
      h("h2", {}, `Held out in ${found.folds} folds`),
      best ? h("p", {}, bestText(best, found.rows[0])) : null,
      table(`${whole(found.n_samples)} rows that the maps were not fitted to; lower is better. Differences are paired, `
        + "with 95 % intervals; p asks whether the error is more than a calibrated model would show.",
        ["calibrator", "log score", difference, "Brier", "ECE", "calibrated: 95 % up to", "p", ""], rows,
        { chosen: found.rows.indexOf(best) }),
      left.length ? h("p", { class: "soft small" }, left.map(([name, why]) => `${name}: ${why}. `).join("")) : null),
    best ? h("div", { class: "columns" },
      h("section", { class: "card", "aria-label": "Before and after" }, chart), picked) : null);
  fill(picked, notice("Choose one to see what it does to all rows, and to download it."));
  if (found.picked) showPicked(found.picked);
  const drawn = found.picked?.method ?? best?.method;
  if (found.charts[drawn]) showChart(chart, found.charts[drawn]);
}

function bestText(best, before) {
  const gap = best.difference;
  const cut = before.log > 0 ? ` (${(100 * (before.log - best.log) / before.log).toFixed(1)} % less)` : "";
  if (gap.high < 0)
    return `${best.method} has the lowest log score: ${number(best.log)} instead of ${number(before.log)}${cut}.`;
  return "Nothing is clearly better than the predictions as given: "
    + `the interval of ${best.method}, the lowest, includes no difference.`;
}
