// The healthcare game: treat patients on the word of a classifier.

import { get, post } from "./api.js";
import { showChart } from "./charts.js";
import { announce, errorNotice, field, fill, h, number, select, table } from "./dom.js";

export const title = "Game";
const ABOUT = {
  calibrated: "reports mean what they say",
  "over-confident": "reports exaggerate",
  "very over-confident": "reports exaggerate a lot",
  "under-confident": "reports are timid",
  uneven: "reports claim some conditions too often",
  "you find out": "one of these, named at the end",
};

export async function show(root) {
  const body = h("div", { id: "game" });
  const problem = h("div", {});

  async function act(work) {
    fill(problem);
    try {
      draw(await work());
    } catch (error) {
      fill(problem, errorNotice(error));
      problem.scrollIntoView({ block: "nearest" });
    }
  }
  function draw(state) {
    const parts = [];
    if (state.playing) parts.push(scoreCard(state));
    if (state.playing && !state.finished) parts.push(rulesCard(state));
    if (state.playing && state.last) parts.push(outcomeCard(state));
    if (state.playing && !state.finished) parts.push(roundCard(state, act));
    if (state.playing && state.finished) parts.push(summaryCard(state));
    if (state.playing && state.finished) parts.push(rulesCard(state));
    if (!state.playing || state.finished) parts.push(startForm(state, act));
    fill(body, parts);
    if (state.playing && (state.last || state.finished)) {
      const head = body.querySelector("h2");
      head.focus();
      announce(head.textContent);
    }
  }
  fill(root,
    h("h1", {}, "The healthcare game"),
    h("p", { class: "lead" },
      "Patients come in rounds. A classifier reports what each may have, and a budget pays for some " +
      "treatments. The right treatment helps, the wrong one harms. Are the reports to be believed? " +
      "After each round you see what the patients had, and how often reports were right. All figures " +
      "are invented."),
    problem, body);
  draw(await get("game"));
}

function startForm(state, act) {
  const level = select(state.levels.map((name) => [name, `${name}: ${ABOUT[name]}`]), state.level || "over-confident");
  const rounds = h("input", { type: "number", min: 1, max: 20, value: state.n_rounds || 5 });
  const patients = h("input", { type: "number", min: 2, max: 30, value: state.n_patients || 10 });
  const begin = (event) => {
    event.preventDefault();
    act(() => post("game", { level: level.value, n_rounds: Number(rounds.value), n_patients: Number(patients.value) }));
  };
  return h("form", { class: "card", on: { submit: begin } },
    h("h2", {}, state.finished ? "Play again" : "Begin"),
    field("The classifier", level),
    h("div", { class: "columns" }, field("Rounds", rounds), field("Patients in a round", patients)),
    h("button", { type: "submit", class: "main" }, "Start a game"));
}

function scoreCard(state) {
  const { unit } = state.rules;
  const played = state.rounds.length;
  const rounds = state.rounds.map((round) => signed(round.value)).join(", ");
  const rest = played
    ? `By round: ${rounds}. The reports promised ${number(state.promised, 1)}.`
    : "Every right treatment adds to it, a wrong one may take away.";
  return h("section", { class: "card", id: "score", "aria-label": "Score" },
    h("p", { class: "score" }, `Score: ${number(state.value, 0)} ${unit}`),
    h("p", { class: "soft" }, `${played} of ${state.n_rounds} rounds played. ${rest}`));
}

function signed(value) {
  return `${value > 0 ? "+" : ""}${number(value, 0)}`;
}

function rulesCard(state) {
  const { conditions, treatments, costs, benefit, unit } = state.rules;
  return h("details", { class: "card", id: "rules", open: state.finished ? null : true },
    h("summary", {}, "Rules: treatments, costs and effects"),
    h("p", {}, `Gain as many ${unit} as you can: at most one treatment a patient, within the budget of the round. ` +
      "What is left of it is lost. A treatment pays from the probability in the last column on, if that is the true one."),
    table(`Effect in ${unit}, times what is at stake for the patient; no treatment has none`,
      ["treatment", "cost", ...conditions, "pays from"],
      treatments.map((name, i) => [name, costs[i], ...benefit[i], paysFrom(benefit[i])])));
}

function paysFrom(effects) {
  const worst = Math.min(0, ...effects);
  const best = Math.max(...effects);
  return best > 0 ? `${(-100 * worst / (best - worst)).toFixed(0)} %` : "never";
}

function share(probability) {
  const bar = h("i", { "aria-hidden": "true" });
  bar.style.width = `${100 * probability}%`; // by the object model: the security policy forbids style attributes
  return h("span", { class: "share" }, bar, shownShare(probability));
}

function shownShare(p) {
  const value = 100 * p;
  if (value >= 0.1) return `${value.toFixed(1)} %`;
  return value >= 0.0005 ? `${value.toFixed(3)} %` : "0 %";
}

function roundCard(state, act) {
  const { conditions, treatments, costs } = state.rules;
  const options = [[0, "nothing"], ...treatments.map((name, i) => [i + 1, `${name} (${costs[i]})`])];
  const selects = state.reports.map((_, i) => select(options, 0, { "aria-label": `Treatment of patient ${i + 1}` }));
  const budget = h("p", { class: "budget", "aria-live": "polite" });
  const treat = h("button", { type: "button", class: "main", id: "treat" }, "Treat");
  const trust = h("button", { type: "button" }, "Fill in as if the reports were right");
  const spent = () => selects.reduce((sum, each) => sum + (Number(each.value) ? costs[Number(each.value) - 1] : 0), 0);
  function count() {
    const over = spent() > state.budget + 1e-9;
    budget.textContent = `${spent()} of ${state.budget} spent${over ? ": too much" : ""}`;
    budget.classList.toggle("over", over);
    treat.disabled = over;
  }
  for (const each of selects) each.addEventListener("change", count);
  treat.addEventListener("click", () => {
    treat.disabled = true; // a second click would play the next round
    act(() => post("game/treat", { choices: selects.map((each) => Number(each.value)) }));
  });
  trust.addEventListener("click", async () => {
    const { choices } = await get("game/advice");
    choices.forEach((choice, i) => { selects[i].value = String(choice); });
    count();
  });
  count();
  const rows = state.reports.map((report, i) => [String(i + 1), selects[i], `× ${state.stakes[i]}`, ...report.map(share)]);
  return h("section", { class: "card", "aria-label": `Round ${state.round}` },
    h("h2", { tabindex: "-1" }, `Round ${state.round} of ${state.n_rounds}`),
    table("Reported probability of each condition", ["patient", "treatment", "at stake", ...conditions], rows, { kind: "reports", labels: true }),
    h("div", { class: "bottom row" }, budget, treat, trust));
}

function outcomeCard(state) {
  const { last } = state;
  const { conditions, treatments, unit } = state.rules;
  const rows = last.choices.map((choice, i) => {
    const top = last.reports[i].indexOf(Math.max(...last.reports[i]));
    return [String(i + 1), `${conditions[top]} ${shownShare(last.reports[i][top])}`, conditions[last.conditions[i]],
      choice ? treatments[choice - 1] : "nothing", choice ? `${last.effects[i] > 0 ? "+" : ""}${last.effects[i]}` : "–"];
  });
  const seen = h("div", { class: "chart-place", id: "seen" });
  showChart(seen, state.seen);
  return h("section", { class: "card", "aria-label": `Outcome of round ${last.round}` },
    h("h2", { tabindex: "-1" }, `Round ${last.round}: effect ${number(last.value, 0)} ${unit}, promised ${number(last.promised, 1)}`),
    h("div", { class: "columns narrow" }, seen,
      h("details", { open: true }, h("summary", {}, "What the patients had"),
        table(`Round ${last.round}, effect in ${unit}`, ["patient", "said", "was", "got", "effect"], rows))));
}

function summaryCard(state) {
  const { sentences, players, hindsight } = state.summary;
  const rows = players.map((player) => [player.name, number(player.expected, 1), number(player.value, 1), number(player.promised, 1)]);
  rows.push(["hindsight", "–", number(hindsight, 1), "–"]);
  return h("section", { class: "card verdict", id: "summary", "aria-label": "Summary" },
    h("h2", { tabindex: "-1" }, "The account"), sentences.map((text) => h("p", {}, text)),
    table(`In ${state.rules.unit}. Expected: on average over patients such as these, which leaves luck out.`,
      ["player", "expected", "on these patients", "promised"], rows),
    h("p", { class: "soft small" }, `These patients have the seed ${state.seed}.`));
}
