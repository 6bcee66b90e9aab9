// One page: the part after # says which tab is shown.

import { get } from "./api.js";
import { errorNotice, fill, h, whole } from "./dom.js";
import * as calibrate from "./calibrate.js";
import * as data from "./data.js";
import * as decide from "./decide.js";
import * as download from "./download.js";
import * as evaluate from "./evaluate.js";
import * as game from "./game.js";
import * as learn from "./learn.js";

const PAGES = { data, evaluate, calibrate, decide, download, learn, game };
const NEEDS_DATA = new Set(["evaluate", "calibrate", "decide", "download"]);

export const app = { state: null, refresh, go };

async function refresh() {
  app.state = await get("state");
  const used = app.state.current;
  const line = document.getElementById("in-use");
  line.textContent = used
    ? `${used.name}: ${whole(used.rows)} rows, ${used.n_classes} classes${used.picked ? `, calibrator ${used.picked}` : ""}`
    : "";
}

function go(name) {
  if (location.hash === `#${name}`) show();
  else location.hash = name;
}

function named() {
  const name = location.hash.slice(1);
  return name in PAGES ? name : "data";
}

let turn = 0;
let leave = null;

async function show() {
  const name = named();
  if (location.hash === "#main") return; // the skip link
  const mine = (turn += 1);
  if (leave) leave();
  leave = null;
  const page = PAGES[name];
  document.title = `${page.title} · veridical studio`;
  fill(document.getElementById("tabs"), Object.entries(PAGES).map(([key, each]) =>
    h("li", {}, h("a", { href: `#${key}`, "aria-current": key === name ? "page" : null }, each.title))));
  const main = document.getElementById("main");
  const root = h("div", {});
  try {
    await refresh();
    if (NEEDS_DATA.has(name) && !app.state.current) {
      fill(root, h("h1", {}, page.title), h("div", { class: "card" },
        h("p", {}, "There are no data yet: choose a file and say which columns hold what."),
        h("p", {}, h("a", { class: "button main", href: "#data" }, "Choose data"))));
      if (mine === turn) fill(main, root);
      return;
    }
    if (mine !== turn) return;
    fill(main, root);
    window.scrollTo(0, 0);
    leave = (await page.show(root, app)) || null;
  } catch (error) {
    fill(main, h("h1", {}, page.title), errorNotice(error));
  }
  root.dataset.ready = name; // tests wait for it
}

function start() {
  if (location.search) history.replaceState(null, "", `/${location.hash}`); // the token is not for sharing
  window.addEventListener("hashchange", () => {
    show().then(() => document.getElementById("main").focus({ preventScroll: true }));
  });
  show();
}

start();
