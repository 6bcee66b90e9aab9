// Choose a file, look at its first rows, say which column is what.

import { get, post, upload } from "./api.js";
import { announce, errorNotice, field, fill, h, notice, select, table, whole } from "./dom.js";

export const title = "Data";
const MOST_NAMED = 20; // classes whose columns can be named one by one

let opened = null; // the table last opened, kept while other pages are shown

export async function show(root, app) {
  const result = h("div", { id: "opened" });
  const place = h("div", {}); // messages about opening
  const files = await get("files");

  async function open(work, what) {
    fill(place, notice(`Reading ${what} …`));
    try {
      opened = await work();
      fill(place);
      announce(`${opened.name} opened: ${opened.columns.length} columns.`);
      await showOpened(result, app);
      result.querySelector("h2").focus();
    } catch (error) {
      fill(place, errorNotice(error));
    }
  }

  const chooser = uploader(app.state.max_upload,
    (file) => open(() => upload(file), file.name),
    (error) => fill(place, errorNotice(error)));
  const names = files.files.map((file) => [file.name, `${file.name} (${file.size})`]);
  const choices = names.length ? names : [["", "no CSV, Parquet or Arrow files here"]];
  const list = select(choices, app.state.first || choices[0][0], { disabled: !names.length });
  const button = h("button", { type: "button", disabled: !names.length,
    on: { click: () => open(() => post("open", { name: list.value }), list.value) } }, "Open");
  fill(root,
    h("h1", {}, "Data"),
    h("p", { class: "lead" },
      "A table with a row for each case: what happened, and how probable a model said it was. Nothing " +
      "leaves this machine."),
    h("div", { class: "columns" },
      h("section", { class: "card", "aria-label": "Upload" }, h("h2", {}, "Upload a file"), chooser),
      h("section", { class: "card", "aria-label": "Folder" }, h("h2", {}, "Or open one of the folder"),
        field(files.folder, list), button)),
    place, result);
  if (opened) await showOpened(result, app);
  else if (app.state.first) await open(() => post("open", { name: app.state.first }), app.state.first);
}

function uploader(limit, take, refuse) {
  const said = limit >= 1e9 ? `${limit / 1e9} GB` : `${limit / 1e6} MB`;
  const consider = (file) => {
    // Asked here too: a browser that is sending gigabytes does not listen for an answer.
    if (file.size > limit) refuse({ message: `${file.name} is larger than the limit of ${said}.`, hint:
      "start `veridical studio FILE`, which reads the file where it is, or raise the limit with " +
      "--max-upload." });
    else take(file);
  };
  const input = h("input", { type: "file", accept: ".csv,.tsv,.gz,.parquet,.pq,.arrow,.feather,.ipc",
    on: { change: () => input.files[0] && consider(input.files[0]) } });
  const zone = h("div", { class: "drop" }, field("CSV, Parquet or Arrow", input, { hint: `up to ${said}; or drop it here` }));
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer.files[0]) consider(event.dataTransfer.files[0]);
  });
  return zone;
}

async function showOpened(result, app) {
  const { columns, guess } = opened;
  const none = [["", "none"]];
  const y = select([["", "choose a column"], ...columns], guess.y || "");
  const prob = h("select", { multiple: true, size: 8 }, columns.map((name) => h("option", { value: name }, name)));
  for (const option of prob.options) option.selected = guess.prob.includes(option.value);
  const weight = select([...none, ...columns], "");
  const by = select([...none, ...columns], "");
  const classes = h("div", { "aria-live": "polite" });
  const problem = h("div", {});
  const mapping = { labels: () => null, positive: () => null };
  const chosen = () => [...prob.selectedOptions].map((option) => option.value);

  async function relabel() {
    fill(classes);
    fill(problem);
    mapping.labels = mapping.positive = () => null;
    if (!y.value || !chosen().length) return;
    try {
      const found = await post("labels", { id: opened.id, y: y.value, prob: chosen() });
      fill(classes, classFields(found, chosen(), mapping));
    } catch (error) {
      fill(problem, errorNotice(error));
    }
  }

  async function use(event) {
    event.preventDefault();
    fill(problem, notice("Checking …"));
    try {
      const found = await post("use", { id: opened.id, y: y.value, prob: chosen(), weight: weight.value, by: by.value,
        labels: mapping.labels(), positive: mapping.positive() });
      announce(`${whole(found.rows)} rows in use.`);
      app.go("evaluate");
    } catch (error) {
      fill(problem, errorNotice(error));
    }
  }

  y.addEventListener("change", relabel);
  prob.addEventListener("change", relabel);
  const more = columns.length - opened.shown.length;
  const about = `${opened.name}, ${whole(columns.length)} columns${more > 0 ? `, ${whole(more)} not shown` : ""}`;
  fill(result,
    h("section", { class: "card", "aria-label": "Preview" },
      h("h2", { tabindex: "-1" }, "First rows"),
      table(about, opened.shown, opened.rows, { kind: "text" })),
    h("form", { class: "card", on: { submit: use } },
      h("h2", {}, "Which column is what?"),
      guess.said ? h("p", { class: "soft" }, `Found by their values and names: ${guess.y} as the outcome, ${guess.prob.join(", ")} as its prediction.`) : null,
      h("div", { class: "columns" },
        h("div", {}, field("Outcome (what happened)", y), classes,
          field("Weight", weight, { hint: "how much a row counts; none for all alike" }),
          field("Group", by, { hint: "each group is evaluated by itself, too" })),
        h("div", {}, field("Predictions (probabilities)", prob, { hint:
          "one column for the positive class, or one for each class; with Ctrl or ⌘ for several" }))),
      problem,
      h("button", { type: "submit", class: "main" }, "Use these columns")));
  await relabel();
}

// Which class a column is about: the positive one of a single column, or one for each column.
function classFields(found, columns, mapping) {
  const options = found.labels.map((label, i) => [i, label]);
  const missing = found.missing ? [h("p", { class: "soft" }, `${whole(found.missing)} rows have no outcome.`)] : [];
  if (columns.length === 1) {
    if (found.n_labels !== 2) return missing;
    const positive = select(options, found.positive);
    mapping.positive = () => Number(positive.value);
    return [...missing, field("Positive class", positive, { hint: `the class that ${columns[0]} is the probability of` })];
  }
  if (found.of_columns) {
    return [...missing, h("p", { class: "soft small" }, `Classes by the names of columns: ${listed(found.of_columns)}.`)];
  }
  if (columns.length > MOST_NAMED || found.n_labels !== columns.length) {
    return [...missing, h("p", { class: "soft small" }, `Classes in sorted order: ${listed(found.labels)}.`)];
  }
  const selects = columns.map((name, i) => select(options, i, { "aria-label": `Class of ${name}` }));
  mapping.labels = () => selects.map((each) => Number(each.value));
  return [...missing, h("fieldset", {}, h("legend", {}, "Class of each column"),
    columns.map((name, i) => field(name, selects[i])))];
}

function listed(names) {
  return names.length > 10 ? `${names.slice(0, 10).join(", ")}, … (${whole(names.length)})` : names.join(", ");
}
