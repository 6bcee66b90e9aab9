// Switches between the frames of a chart, moves its slider, and shows the words of the mark that is
// pointed at or touched. Charts are seen without it; nothing is fetched.

function framesOf(figure) {
  return [...figure.querySelectorAll(".chart-view")].map((view) =>
    ({ view, choice: view.dataset.choice.split(",").map(Number) }));
}

// The frame for a changed control: it keeps that choice, and of the others as many as it can.
function choose(figure, changed) {
  const lists = [...figure.querySelectorAll("select[data-control]")];
  const frames = framesOf(figure);
  const wanted = frames.find(({ view }) => !view.hidden).choice.slice();
  for (const list of lists) wanted[Number(list.dataset.control)] = Number(list.value);
  const same = ({ choice }) => choice.filter((k, i) => k === wanted[i]).length;
  const best = frames.filter(({ choice }) => choice[changed] === wanted[changed])
    .reduce((a, b) => (same(b) > same(a) ? b : a));
  for (const { view } of frames) view.hidden = view !== best.view;
  for (const list of lists) list.value = String(best.choice[Number(list.dataset.control)]);
  figure.querySelector(".chart-status").textContent = best.view.querySelector(".chart-said").textContent;
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

function slide(figure, input) {
  const slider = JSON.parse(figure.querySelector(".chart-slider script").textContent);
  const at = costsAt(slider, Number(input.value));
  const least = Math.min(at.model, at.all, at.none);
  for (const output of figure.querySelectorAll("[data-output]")) {
    const name = output.dataset.output;
    output.textContent = name === "ratio" ? ratioWords(at.ratio)
      : name === "called" ? `${(100 * at.called).toFixed(1)} %` : at[name].toFixed(4);
    output.toggleAttribute("data-best", at[name] === least && ["model", "all", "none"].includes(name));
  }
  const words = (name) => figure.querySelector(`[data-output=${name}]`).textContent;
  input.setAttribute("aria-valuetext", `${words("ratio")}, threshold ${words("threshold")}, cost ${words("model")}`);
  for (const line of figure.querySelectorAll(".chosen")) {
    const [left, width, low, high] = line.dataset.scale.split(" ").map(Number);
    line.setAttribute("transform", `translate(${left + width * (at.threshold - low) / (high - low)})`);
  }
}

// One box for the words of marks: titles of browsers come late, and not at all to fingers.
const box = document.createElement("div");
box.className = "chart-tooltip";
box.hidden = true;
document.body.append(box);
document.addEventListener("pointerover", (event) => {
  const mark = event.target.closest?.(".vd *");
  const title = mark && [...mark.children].find((child) => child.tagName === "title");
  box.hidden = !(title || mark?.dataset.tip);
  if (box.hidden) return;
  if (title) { mark.dataset.tip = title.textContent; title.remove(); }
  box.textContent = mark.dataset.tip;
  const place = mark.getBoundingClientRect();
  const left = Math.min(Math.max(place.left + place.width / 2 - box.offsetWidth / 2, 4), innerWidth - box.offsetWidth - 4);
  const above = place.top - box.offsetHeight - 6;
  box.style.left = `${left}px`;
  box.style.top = `${above > 4 ? above : place.bottom + 6}px`;
});

function mount(figure) {
  for (const list of figure.querySelectorAll("select[data-control]")) {
    list.addEventListener("change", () => choose(figure, Number(list.dataset.control)));
  }
  const input = figure.querySelector(".chart-slider input");
  if (input) {
    input.addEventListener("input", () => slide(figure, input));
    slide(figure, input);
  }
}

window.veridicalCharts = { mount };
document.querySelectorAll("figure.chart").forEach(mount);
