// What every part of the page uses: elements, numbers as text, and the choices that live in location.hash.

const SVG = "http://www.w3.org/2000/svg";
const MINUS = "\u2212";
const NONE = "\u2013";
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"];

// Returns a new element. Text only ever becomes a text node, so nothing in the data can turn into markup.
function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("aria-")) element.setAttribute(name, value);
    else if (value === null || value === undefined || value === false) continue;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    // Through the object model: a style attribute would be refused by the content security policy.
    else if (name === "style") for (const [key, item] of Object.entries(value)) element.style.setProperty(key, item);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function highest(values) {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}

// Four significant digits at most: 12,345 | 1,234 | 0.1235 | 1.2e-5.
function numberText(value, digits = 4) {
  if (!isNumber(value)) return NONE;
  const size = Math.abs(value);
  let text;
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) text = value.toExponential(1);
  else if (size >= 1000) text = Math.round(value).toLocaleString("en-US");
  else text = String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", MINUS);
}

function signedText(value, digits = 3) {
  return (value > 0 ? "+" : "") + numberText(value, digits);
}

function percentText(value) {
  return isNumber(value) ? `${(100 * value).toFixed(1).replace("-", MINUS)} %` : NONE;
}

function rateText(rate) {
  if (!rate || !isNumber(rate.y)) return NONE;
  const bounds = isNumber(rate.low) && isNumber(rate.high);
  return percentText(rate.y) + (bounds ? ` [${(100 * rate.low).toFixed(1)}, ${(100 * rate.high).toFixed(1)}]` : "");
}

// 950 | 12.5k | 1.2M | 5e-4, for axes.
function shortText(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 1e-3) return value.toExponential().replaceAll("-", MINUS);
  for (const [unit, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (size >= unit) return `${Number((value / unit).toPrecision(4))}${name}`.replace("-", MINUS);
  }
  return numberText(value);
}

function durationText(seconds) {
  if (seconds < 60) return `${numberText(seconds, seconds < 1 ? 2 : 3)} s`;
  return seconds < 5400 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

// --- the choices of the reader -------------------------------------------------------------------------------------

const DEFAULTS = {
  x: "step", zoom: "", hide: "", series: "", fit: "", log: "", all: "", find: "", run: "0", kind: "", step: "",
  problem: "", sample: "0", colour: "advantage", beside: "", only: "all", held: "", at: "",
};
const choices = { ...DEFAULTS };
const watchers = [];

function choose(changes) {
  const changed = Object.keys(changes).filter((key) => choices[key] !== String(changes[key]));
  if (changed.length === 0) return;
  for (const key of changed) choices[key] = String(changes[key]);
  writeHash();
  for (const watcher of watchers) if (watcher.keys.some((key) => changed.includes(key))) watcher.react(changed);
}

function whenChosen(keys, react) {
  watchers.push({ keys, react });
}

function readHash() {
  const found = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(Object.keys(DEFAULTS).map((key) => [key, found.get(key) ?? DEFAULTS[key]]));
}

let hashTimer = 0;

function writeHash() {
  clearTimeout(hashTimer);
  // Browsers refuse many changes in a short time.
  hashTimer = setTimeout(() => {
    const query = new URLSearchParams(Object.entries(choices).filter(([key, value]) => value !== DEFAULTS[key]));
    try {
      history.replaceState(null, "", `#${query}`);
    } catch {
      // A sandboxed frame may refuse; the page works without links to its views.
    }
  }, 150);
}

function listed(key) {
  return choices[key] ? choices[key].split(",") : [];
}

function toggleListed(key, item) {
  const items = listed(key);
  choose({ [key]: (items.includes(item) ? items.filter((other) => other !== item) : [...items, item]).join(",") });
}

// --- controls ------------------------------------------------------------------------------------------------------

// Returns a row of buttons of which one is pressed. options: [[value, label]].
function oneOf(label, key, options) {
  const buttons = options.map(([value, text]) =>
    h("button", { type: "button", "data-value": value, onclick: () => choose({ [key]: value }) }, text));
  const show = () => options.forEach(([value], i) => buttons[i].setAttribute("aria-pressed", choices[key] === value));
  whenChosen([key], show);
  show();
  return h("div", { class: "choice", role: "group", "aria-label": label },
    h("span", { class: "name" }, label), buttons);
}

function onOff(key, text, title) {
  const flip = () => choose({ [key]: choices[key] ? "" : "1" });
  const button = h("button", { type: "button", title, onclick: flip }, text);
  const show = () => button.setAttribute("aria-pressed", choices[key] === "1");
  whenChosen([key], show);
  show();
  return button;
}

// Replaces what is in `container`; a button that had the focus gives it to its successor with the same data-key.
function replaceKeepingFocus(container, ...nodes) {
  const key = container.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  container.replaceChildren(...nodes.flat(Infinity).filter((node) => node !== null));
  if (key) container.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

// Returns the head row of a table; names: [text, class]; a column without a name gets a plain cell.
function headRow(names) {
  const cells = names.map(([text, kind]) => (text ? h("th", { scope: "col", class: kind }, text) : h("td")));
  return h("thead", {}, h("tr", {}, cells));
}

function section(id, title, ...children) {
  return h("section", { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title`, tabindex: "-1" }, title), children);
}

function note(text) {
  return h("p", { class: "note" }, text);
}

function swatch(colour, dash) {
  return svg("svg", { class: "swatch", width: 22, height: 10, "aria-hidden": "true" },
    svg("line", { x1: 1, x2: 21, y1: 5, y2: 5, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dash }));
}

// --- light and dark ------------------------------------------------------------------------------------------------

// A page without storage (a sandboxed frame, some privacy settings) throws on the first touch of localStorage.
function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Then it lasts until the page is closed.
  }
}

function themeButton(button) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = remembered("rlvr-theme");
  const root = document.documentElement;
  if (stored === "dark" || stored === "light") root.dataset.theme = stored;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember("rlvr-theme", root.dataset.theme);
    show();
  });
  system.addEventListener("change", show);
  // Paper is white.
  const chosen = {};
  addEventListener("beforeprint", () => {
    chosen.theme = root.dataset.theme;
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    if (chosen.theme) root.dataset.theme = chosen.theme;
    else delete root.dataset.theme;
  });
  show();
}
