// Charts come from the server as markup in which every text is escaped; the security policy of the
// page would run no script in it. `chart.js` brings their marks to life.

export function showChart(place, chart) {
  const open = place.querySelector(".chart-numbers[open]") !== null;
  const figure = new DOMParser().parseFromString(chart.html, "text/html").querySelector("figure");
  figure.querySelector(".chart-numbers").open = open;
  place.replaceChildren(figure);
  window.veridicalCharts.mount(figure);
}
