// Charts come from the server as specifications; the report's runtime draws them.

import { h, newId } from "./dom.js";

// Nearly a megabyte: fetched at once, but only charts wait for it.
const runtime = new Promise((resolve, reject) => {
  const script = h("script", { src: "/assets/runtime.js" });
  script.addEventListener("load", () => resolve(window.veridicalCharts));
  script.addEventListener("error", () => reject(new Error("The charts could not be loaded.")));
  document.head.append(script);
});

function figureOf(chart) {
  const id = newId("chart");
  const data = h("script", { type: "application/json", class: "chart-data" });
  data.textContent = JSON.stringify(chart.payload);
  const rows = chart.table.rows.map((row) => h("tr", {}, row.map((cell, k) =>
    h(k ? "td" : "th", k ? {} : { scope: "row" }, cell))));
  return h("figure", { class: "chart", id, "aria-labelledby": `${id}-title` },
    h("figcaption", { id: `${id}-title` }, chart.title),
    h("div", { class: "chart-view", role: "img", "aria-label": chart.description }),
    h("details", { class: "chart-numbers" },
      h("summary", {}, "Numbers of this chart"),
      h("div", { class: "chart-scroll", tabindex: "0", role: "region", "aria-label": `Numbers: ${chart.title}` },
        h("table", {},
          h("thead", {}, h("tr", {}, chart.table.header.map((name) => h("th", { scope: "col" }, name)))),
          h("tbody", {}, rows)))),
    data);
}

// The old chart stays until the new one is drawn, so that nothing jumps while a slider moves.
export async function showChart(place, chart) {
  const { mount } = await runtime;
  const old = [...place.querySelectorAll("figure:not(.incoming)")];
  const open = old.some((figure) => figure.querySelector("details[open]"));
  const figure = figureOf(chart);
  figure.querySelector("details").open = open;
  if (old.length) figure.classList.add("incoming");
  place.append(figure);
  await mount(figure);
  for (const each of place.querySelectorAll("figure")) if (each !== figure) each.remove();
  figure.classList.remove("incoming");
}
