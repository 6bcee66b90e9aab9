// Light, dark, or as the system says; and printing. Charts follow by themselves.
(function () {
  "use strict";
  const root = document.documentElement;
  const scheme = document.getElementById("scheme");
  scheme.hidden = false;
  scheme.addEventListener("click", function () {
    const chosen = root.dataset.theme;
    const dark = chosen
      ? chosen === "dark"
      : window.matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  const print = document.getElementById("print");
  print.hidden = false;
  print.addEventListener("click", function () {
    window.print();
  });
})();
