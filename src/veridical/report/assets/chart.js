// Draws every <figure class="chart"> of the page, and again when its width, the colour scheme or a
// control changes. The numbers come with the page; nothing is fetched.

const SMALLEST = 160; // pixels of a plot, inside its axes
const CELL = 190; // pixels of one of several plots beside each other, axes included
const GAP = 26; // pixels between them
const WAIT = 120; // milliseconds without a change of width before drawing again

const charts = new Map(); // figure -> {payload, view, choice, width}
let printing = false;

function isDark() {
  if (printing) return false;
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "dark" || chosen === "light") return chosen === "dark";
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

// Records from columns; a column that is not a list has the same value in every row.
function rowsOf({ count, columns }) {
  const pairs = Object.entries(columns);
  return Array.from({ length: count }, (_, i) => Object.fromEntries(
    pairs.map(([name, values]) => [name, Array.isArray(values) ? values[i] : values])));
}

// Copies a specification with the sizes of this page and the words of a frame.
function fitted(node, sizes, words) {
  if (Array.isArray(node)) return node.map((each) => fitted(each, sizes, words));
  if (typeof node === "string" && words.has(node)) return words.get(node);
  if (node === null || typeof node !== "object") return node;
  const copy = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === "width" && value === sizes.from.width) copy[key] = sizes.width;
    else if (key === "height" && value === sizes.from.height) copy[key] = sizes.height;
    else if (key === "columns" && "facet" in node) copy[key] = sizes.columns;
    else copy[key] = fitted(value, sizes, words);
  }
  return copy;
}

function sizesOf(layout, available) {
  let width = Math.floor(available - layout.beside);
  let columns = 1;
  if (layout.columns) {
    columns = Math.max(1, Math.floor(available / CELL));
    width = Math.floor((available - layout.beside) / columns) - GAP;
  }
  width = Math.min(layout.max_width, Math.max(SMALLEST, width));
  const height = layout.aspect === null ? layout.height : Math.round(width * layout.aspect);
  return { from: layout, width, height, columns };
}

// From the words in the specification, which are those of the first frame, to those of this one.
function wordsOf(chart, frame) {
  if (!frame) return new Map();
  const first = chart.payload.frames[0].texts;
  return new Map(Object.keys(first).map((name) => [first[name], frame.texts[name]]));
}

function frameOf(chart) {
  if (!chart.payload.frames) return null;
  return chart.payload.frames.find((frame) => frame.choice.every((k, i) => k === chart.choice[i]));
}

async function draw(figure) {
  try {
    await drawInto(figure, figure.querySelector(".chart-view"));
  } catch (error) {
    figure.querySelector(".chart-view").textContent = "This chart could not be drawn; its numbers are below.";
    throw error;
  }
}

async function drawInto(figure, place) {
  const chart = charts.get(figure);
  const available = place.clientWidth;
  if (!available) return; // not shown now; the observer calls again when it is
  const turn = (chart.turn = (chart.turn || 0) + 1);
  const frame = frameOf(chart);
  const sizes = sizesOf(chart.payload.layout, available);
  const spec = fitted(chart.payload.spec, sizes, wordsOf(chart, frame));
  spec.datasets = Object.fromEntries(
    Object.entries((frame || chart.payload).datasets).map(([name, data]) => [name, rowsOf(data)]));
  chart.width = available;
  const into = document.createElement("div");
  into.setAttribute("aria-hidden", "true"); // the words are around the picture, not in it
  const drawn = await window.vegaEmbed(into, spec, {
    actions: false,
    ast: true, // expressions are interpreted: no eval, whatever the security policy
    config: THEMES[isDark() ? "dark" : "light"],
    defaultStyle: false,
    logLevel: 1, // errors only: a layer without rows is none
    mode: "vega-lite",
    renderer: "svg",
    tooltip: { disableDefaultStyle: true, id: "chart-tooltip", theme: "chart" },
  });
  if (turn !== chart.turn) return drawn.finalize(); // a later change overtook this one
  if (chart.view) chart.view.finalize();
  place.replaceChildren(into);
  chart.view = drawn.view;
  const tooltip = document.getElementById("chart-tooltip");
  if (tooltip) tooltip.classList.add("chart-tooltip");
  if (chart.payload.slider) await read(figure);
  figure.dataset.drawn = String(turn);
}

function redrawAll() {
  return Promise.all([...charts.keys()].map(draw));
}

// The frame for a changed control: it keeps that choice, and of the others as many as it can.
function nearest(frames, wanted, changed) {
  let best = null;
  let most = -1;
  for (const frame of frames) {
    if (frame.choice[changed] !== wanted[changed]) continue;
    const same = frame.choice.filter((k, i) => k === wanted[i]).length;
    if (same > most) [best, most] = [frame, same];
  }
  return best;
}

function choose(figure, changed, option) {
  const chart = charts.get(figure);
  const wanted = chart.choice.slice();
  wanted[changed] = option;
  const frame = nearest(chart.payload.frames, wanted, changed);
  chart.choice = frame.choice.slice();
  showChoice(figure, frame);
  return draw(figure);
}

function showChoice(figure, frame) {
  for (const select of figure.querySelectorAll("select[data-control]")) {
    select.value = String(frame.choice[Number(select.dataset.control)]);
  }
  figure.querySelector(".chart-view").setAttribute("aria-label", frame.description);
  figure.querySelector(".chart-status").textContent = frame.description;
  const body = figure.querySelector(".chart-numbers tbody");
  body.replaceChildren(...frame.table.map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells.map((text, i) => {
      const cell = document.createElement(i ? "td" : "th");
      if (!i) cell.scope = "row";
      cell.textContent = text;
      return cell;
    }));
    return row;
  }));
}

// Costs at one threshold of the table; a false positive costs one.
function costsAt(slider, i) {
  const threshold = slider.threshold[i];
  const ratio = (1 - threshold) / threshold;
  const missed = slider.prevalence - slider.true_positive[i];
  return {
    threshold,
    ratio,
    model: slider.false_positive[i] + ratio * (missed + slider.harm),
    all: 1 - slider.prevalence,
    none: ratio * slider.prevalence,
    benefit: slider.true_positive[i] - slider.false_positive[i] / ratio - slider.harm,
    called: slider.true_positive[i] + slider.false_positive[i],
  };
}

function ratioWords(ratio) {
  const side = (value) => (value >= 10 ? value.toFixed(0) : String(Number(value.toFixed(2))));
  return ratio >= 1 ? `${side(ratio)} : 1` : `1 : ${side(1 / ratio)}`;
}

async function read(figure) {
  const chart = charts.get(figure);
  const input = figure.querySelector(".chart-slider input");
  const at = costsAt(chart.payload.slider, Number(input.value));
  const least = Math.min(at.model, at.all, at.none);
  const texts = {
    ratio: ratioWords(at.ratio),
    threshold: at.threshold.toFixed(4),
    called: `${(100 * at.called).toFixed(1)} %`,
    model: at.model.toFixed(4),
    all: at.all.toFixed(4),
    none: at.none.toFixed(4),
    benefit: at.benefit.toFixed(4),
  };
  for (const output of figure.querySelectorAll("[data-output]")) {
    const name = output.dataset.output;
    output.textContent = texts[name];
    output.toggleAttribute("data-best", at[name] === least && ["model", "all", "none"].includes(name));
  }
  input.setAttribute("aria-valuetext", `${texts.ratio}, threshold ${texts.threshold}, cost ${texts.model}`);
  if (chart.view) await chart.view.signal("chosen", at.threshold).runAsync();
}

const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const figure = target.closest("figure");
    const chart = charts.get(figure);
    if (!chart || target.clientWidth === chart.width) continue;
    clearTimeout(chart.timer);
    chart.timer = setTimeout(() => draw(figure), chart.view ? WAIT : 0);
  }
});

// Charts that left the page are forgotten.
function forget() {
  for (const [figure, chart] of charts) {
    if (figure.isConnected) continue;
    clearTimeout(chart.timer);
    if (chart.view) chart.view.finalize();
    charts.delete(figure);
  }
}

function mount(figure) {
  forget();
  if (charts.has(figure)) return draw(figure);
  const payload = JSON.parse(figure.querySelector("script.chart-data").textContent);
  charts.set(figure, { payload, view: null, choice: payload.frames ? payload.frames[0].choice.slice() : [] });
  for (const select of figure.querySelectorAll("select[data-control]")) {
    select.addEventListener("change", () =>
      choose(figure, Number(select.dataset.control), Number(select.value)));
  }
  const input = figure.querySelector(".chart-slider input");
  if (input) input.addEventListener("input", () => read(figure));
  const drawn = draw(figure);
  observer.observe(figure.querySelector(".chart-view"));
  return drawn;
}

// Draws the charts in a part of the page, one after the other so that the page can be read
// meanwhile.
async function mountAll(root = document) {
  for (const figure of root.querySelectorAll("figure.chart")) {
    await mount(figure);
    await new Promise((resume) => setTimeout(resume));
  }
}

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
new MutationObserver(redrawAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });
window.addEventListener("beforeprint", () => {
  printing = true;
  redrawAll();
});
window.addEventListener("afterprint", () => {
  printing = false;
  redrawAll();
});
window.veridicalCharts = { mount, mountAll };
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => mountAll());
else mountAll();
