// Light, dark, or as the system says; folding, printing and copying. Charts follow by themselves.
(function () {
  "use strict";
  const root = document.documentElement;
  const folds = () => [...document.querySelectorAll("details.fold")];
  const shown = (id, act) => {
    const button = document.getElementById(id);
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", () => act(button));
  };
  shown("scheme", () => {
    const chosen = root.dataset.theme;
    const dark = chosen
      ? chosen === "dark"
      : window.matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  shown("print", () => window.print());
  shown("unfold", (button) => {
    const open = folds().some((fold) => !fold.open);
    for (const fold of folds()) fold.open = open;
    button.textContent = open ? "Close all" : "Open all";
  });
  // Paper has no folds: what was closed is opened for it, and closed again. Long lists stay as long
  // as the reader wants them.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = folds().filter((fold) => !fold.open && !fold.classList.contains("more"));
    for (const fold of closed) fold.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
  });
  const follow = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const fold = target && target.querySelector(":scope > details.fold");
    if (fold) fold.open = true;
  };
  window.addEventListener("hashchange", follow);
  follow();
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch (error) {
        window.getSelection().selectAllChildren(code); // no clipboard here: ready for Ctrl+C
        button.textContent = "Selected";
      }
      window.setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }
})();
