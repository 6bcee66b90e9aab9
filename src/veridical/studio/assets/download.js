// What was made, as files.

import { get } from "./api.js";
import { errorNotice, fill, field, h, notice, select } from "./dom.js";

export const title = "Download";

export async function show(root, app) {
  const { current, dialects, onnx } = app.state;
  const ready = Boolean(current.picked);
  const dialect = select(dialects, "duckdb", { disabled: !ready });
  const sql = link("sql", "SQL", ready, { dialect: dialect.value });
  dialect.addEventListener("change", () => { sql.href = address("sql", { dialect: dialect.value }); });
  const cards = [
    card("Calibrator as JSON",
      "Read it with veridical.load(path), or use it on the command line: veridical apply.", offered("json", "JSON", ready)),
    card("Calibrator as SQL",
      "An expression over the columns of a table, for the database that holds the scores.", [field("Dialect", dialect), checked("sql", sql, ready, () => ({ dialect: dialect.value }))]),
    card("Calibrator as Python", "A module without dependencies.", offered("python", "Python", ready)),
    onnx ? card("Calibrator as ONNX", "For servers that run ONNX models.", offered("onnx", "ONNX", ready)) : null,
    card("Calibrated predictions",
      "All columns of the file, and the calibrated probabilities, as CSV.", [link("predictions", "CSV", ready)]),
    card("Report",
      "The whole evaluation as one page that can be read, printed and sent. It takes some seconds.", [link("report", "HTML report", true)]),
  ];
  fill(root,
    h("h1", {}, "Download"),
    ready ? h("p", { class: "lead" }, `The calibrator chosen is ${current.picked}, fitted to all rows of ${current.name}.`)
      : notice("No calibrator is chosen yet.",
        "fit some on the page Calibrate and choose one; the report needs none."),
    h("div", { class: "columns even" }, cards));
}

function card(name, about, controls) {
  return h("section", { class: "card", "aria-label": name }, h("h2", {}, name), h("p", { class: "soft" }, about), controls);
}

function address(what, query = {}) {
  const text = new URLSearchParams(query).toString();
  return `/api/download/${what}${text ? `?${text}` : ""}`;
}

// Runs what would be downloaded on 10,000 scores, and says how close it comes to the calibrator.
function checked(what, download, ready, query = () => ({})) {
  const place = h("div", { id: `checked-${what}`, "aria-live": "polite" });
  const button = h("button", { type: "button", disabled: !ready, on: { click: check } }, "Check it");
  async function check() {
    button.disabled = true;
    fill(place, h("p", { class: "soft small" }, "Running it on 10,000 scores ..."));
    try {
      const made = await get("checked", { what, ...query() });
      fill(place, made.lines.map((line) => h("p", { class: "small" }, line.trim())));
    } catch (error) {
      fill(place, errorNotice(error));
    }
    button.disabled = false;
  }
  return [h("p", { class: "row" }, download, button), place];
}

function offered(what, name, ready) {
  return checked(what, link(what, name, ready), ready);
}

// A link that cannot be followed is no link: without a calibrator it is a button that is off.
function link(what, name, ready, query) {
  if (!ready) return h("button", { type: "button", disabled: true }, `Download ${name}`);
  return h("a", { class: "button main", href: address(what, query), download: true, id: `download-${what}` }, `Download ${name}`);
}
