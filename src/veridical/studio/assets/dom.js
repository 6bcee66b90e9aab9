// Elements from text only: nothing here takes markup, so no label of a file can become code.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (name === "value" || name === "checked" || name === "disabled" || name === "selected") {
      element[name] = value;
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined));
  return element;
}

let count = 0;
export function newId(stem) {
  count += 1;
  return `${stem}-${count}`;
}

// A control with its label, a live value beside it if wanted, and a hint that is read out with it.
export function field(label, control, { hint = "", output = null } = {}) {
  if (!control.id) control.id = newId("control");
  const parts = [h("label", { for: control.id }, label), control];
  if (output) {
    output.setAttribute("for", control.id);
    parts.unshift(output);
  }
  if (hint) {
    const id = newId("hint");
    control.setAttribute("aria-describedby", id);
    parts.push(h("span", { class: "hint", id }, hint));
  }
  return h("div", { class: "field" }, parts);
}

export function select(options, chosen, attributes = {}) {
  const made = options.map((option) => {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    return h("option", { value }, text);
  });
  const element = h("select", attributes, made);
  if (chosen !== null && chosen !== undefined) element.value = String(chosen);
  return element;
}

// Rows are arrays; a cell is text, an element, or [text, smaller text below it].
export function table(caption, header, rows, { kind = "", chosen = -1, labels = false } = {}) {
  const cell = (content, tag, attributes) => {
    const inner = Array.isArray(content) ? [content[0], h("small", {}, content[1])] : [content];
    return h(tag, attributes, inner.map((each) => (each instanceof Node ? each : String(each ?? ""))));
  };
  const head = h("tr", {}, header.map((name) => cell(name, "th", { scope: "col" })));
  const body = rows.map((row, i) => h("tr", { class: i === chosen ? "chosen" : null },
    row.map((content, k) => cell(content, k ? "td" : "th", { scope: k ? null : "row", "data-label": labels ? header[k] : null }))));
  const id = newId("caption"); // above what scrolls: a caption of a wide table would be cut
  return [h("p", { class: "caption", id }, caption),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": id },
      h("table", { class: kind || null, "aria-labelledby": id }, h("thead", {}, head), h("tbody", {}, body)))];
}

// Named figures side by side: [name, value, note].
export function figures(items, attributes = {}) {
  return h("dl", { class: "figures", ...attributes }, items.map(([name, value, note, id]) =>
    h("div", {}, h("dt", {}, name), h("dd", id ? { id } : {}, value, note ? h("small", {}, note) : null))));
}

export function notice(text, hint = "", bad = false) {
  return h("div", { class: bad ? "notice bad" : "notice", role: bad ? "alert" : null },
    h("p", {}, text), hint ? h("p", { class: "soft" }, hint) : null);
}

export function errorNotice(error) {
  return notice(error.message, error.hint ? `Hint: ${error.hint}` : "", true);
}

export function announce(text) {
  document.getElementById("announce").textContent = text;
}

// Numbers as they are read: "inf" arrives as text because JSON has no infinity.
export function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value === "inf" ? "∞" : value;
  if (value !== 0 && Math.abs(value) < 10 ** -digits) return value.toExponential(1);
  return value.toFixed(digits);
}

export function percent(value, digits = 1) {
  return value === null || value === undefined ? "–" : `${(100 * value).toFixed(digits)} %`;
}

export function whole(value) {
  return Math.round(value).toLocaleString("en");
}

export function pvalue(value) {
  if (value === null || value === undefined) return "–";
  return value < 0.001 ? "< 0.001" : value.toFixed(3);
}

export function interval(low, high, digits = 4) {
  return low === null || low === undefined ? "" : `${number(low, digits)} to ${number(high, digits)}`;
}
