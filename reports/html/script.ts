/**
 * What scripts add to the page: choice of theme, filters, copying. Inserted verbatim; the page's content security
 * policy names it by its hash. It contains nothing from a run.
 */
export const script = String.raw`
"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

const theme = document.querySelector(".theme");
const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const showTheme = () => { const other = isDark() ? "Light" : "Dark"; theme.textContent = other; theme.setAttribute("aria-label", "Change to " + other.toLowerCase() + " colours"); };
const stored = (value) => {
  try {
    if (value === undefined) return localStorage.getItem("touchstone-theme");
    localStorage.setItem("touchstone-theme", value);
  } catch { /* a page from disk may be without a store */ }
  return null;
};
const chosen = stored();
if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
theme.hidden = false;
theme.addEventListener("click", () => {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  stored(next);
  showTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
showTheme();

for (const button of all(".copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.previousElementSibling);
      button.textContent = "Selected";
    }
  });
  button.addEventListener("blur", () => { button.textContent = "Copy"; });
}

for (const bar of all(".filters")) {
  const section = bar.parentElement;
  const rules = all("details.rule", section).map((rule) => ({ rule, text: rule.querySelector("summary").textContent.toLowerCase() }));
  const find = bar.querySelector(".find");
  const found = bar.querySelector(".found");
  const unfold = bar.querySelector(".unfold");
  const kinds = all(".kind", bar);
  const visible = () => rules.filter(({ rule }) => !rule.hidden);
  const apply = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const asked = new Set(kinds.filter((one) => one.getAttribute("aria-pressed") === "true").map((one) => one.dataset.kind));
    for (const { rule, text } of rules)
      rule.hidden = !(words.every((word) => text.includes(word)) && (asked.size === 0 || asked.has(rule.dataset.kind)));
    for (const group of all(".rule-group", section)) group.hidden = all("details.rule", group).every((rule) => rule.hidden);
    const count = visible().length;
    found.textContent = count === rules.length ? "" : count + " of " + rules.length + " rules";
  };
  bar.hidden = false;
  find.addEventListener("input", apply);
  for (const one of kinds)
    one.addEventListener("click", () => {
      one.setAttribute("aria-pressed", String(one.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  unfold.addEventListener("click", () => {
    const open = visible().some(({ rule }) => !rule.open);
    for (const { rule } of visible()) rule.open = open;
    unfold.textContent = open ? "Collapse all" : "Expand all";
  });
}

for (const rule of all("details.rule"))
  rule.addEventListener("toggle", () => {
    // The address can be shared: it leads to what was unfolded last.
    if (rule.open && rule.id !== "") history.replaceState(null, "", "#" + encodeURIComponent(rule.id));
  });

/* Values of a picture under the pointer and the arrow keys, one cursor for all that share a time axis. The values come
   from each figure's table, so that the page holds nothing twice. */
const tip = document.createElement("div");
tip.className = "tip";
let pinned = false;
const hideTip = () => { pinned = false; tip.remove(); };
const showTip = (figure, anchor, share, content) => {
  tip.replaceChildren(...content);
  figure.append(tip);
  const [own, outer] = [anchor.getBoundingClientRect(), figure.getBoundingClientRect()];
  const x = own.left - outer.left + share * own.width;
  tip.style.top = own.top - outer.top + "px";
  tip.style.left = share < 0.5 ? x + 12 + "px" : "auto";
  tip.style.right = share < 0.5 ? "auto" : outer.width - x + 12 + "px";
  tip.classList.toggle("pinned", pinned);
};
const inSvg = (parent, tag, attributes) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
};

const cursorIn = (plot) => {
  const height = plot.querySelector(".box").getAttribute("height");
  return inSvg(plot, "line", { class: "cursor", y1: 0, y2: height, visibility: "hidden" });
};
const charts = all("figure").flatMap((figure) => {
  const drawn = all(".chart[data-rows]", figure);
  const table = figure.querySelector("table") ?? figure.nextElementSibling?.querySelector("table");
  if (drawn.length === 0 || !table) return [];
  const [slider] = drawn;
  return [{
    figure, slider, table,
    section: figure.closest("section"),
    seconds: Number(slider.dataset.seconds ?? 0),
    places: slider.dataset.rows.split(" ").map(Number),
    heads: all("thead th", table).map((head) => head.textContent),
    rows: all("tbody tr", table),
    plots: all(".plot", figure),
    cursors: all(".plot", figure).map(cursorIn),
    at: 0,
  }];
});
const peersOf = (chart) =>
  chart.seconds === 0 ? [chart] : charts.filter((one) => one.section === chart.section && one.seconds === chart.seconds);
const nearest = ({ places }, place) =>
  places.reduce((best, one, at) => (Math.abs(one - place) < Math.abs(places[best] - place) ? at : best), 0);

const moveCursors = ({ cursors }, place) => {
  for (const cursor of cursors) {
    cursor.setAttribute("visibility", place === undefined ? "hidden" : "visible");
    if (place !== undefined) for (const end of ["x1", "x2"]) cursor.setAttribute(end, place + "%");
  }
};
const valuesOf = ({ heads, rows, at }) =>
  all("th, td", rows[at]).flatMap((cell, column) => (cell.textContent === "" ? [] : [[heads[column], cell]]));
const show = (chart, index) => {
  const at = Math.max(0, Math.min(chart.rows.length - 1, index));
  const place = chart.places[at];
  for (const peer of peersOf(chart)) {
    peer.at = peer === chart ? at : nearest(peer, place);
    moveCursors(peer, place);
  }
  const values = valuesOf(chart);
  const list = document.createElement("dl");
  for (const [head, cell] of values) {
    const [term, value] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = head;
    value.append(...[...cell.childNodes].map((node) => node.cloneNode(true)));
    list.append(term, value);
  }
  chart.slider.setAttribute("aria-valuenow", at + 1);
  chart.slider.setAttribute("aria-valuetext", values.map(([head, cell]) => head + " " + cell.textContent).join(", "));
  showTip(chart.figure, chart.plots[0], place / 100, [list]);
};
const hide = (chart) => {
  if (pinned) return;
  hideTip();
  for (const peer of peersOf(chart)) moveCursors(peer);
};
/** To the breach in these seconds, or else to the row of the table; the address leads to the second from then on. */
const go = (chart) => {
  const row = chart.rows[chart.at];
  if (chart.seconds > 0) history.replaceState(null, "", "#" + chart.section.id + "@" + parseInt(row.cells[0].textContent));
  const link = row.querySelector("a");
  if (link !== null) return link.click();
  const folded = chart.table.closest("details");
  if (folded !== null) folded.open = true;
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "center" });
};
const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
const keys = {
  Enter: go,
  Escape: (chart) => { pinned = false; hide(chart); },
};
const nearestTo = (chart, plot, event) => {
  const { left, width } = plot.getBoundingClientRect();
  return nearest(chart, (100 * (event.clientX - left)) / width);
};
for (const chart of charts) {
  const { slider } = chart;
  slider.tabIndex = 0;
  slider.setAttribute("role", "slider");
  slider.setAttribute("aria-valuemin", 1);
  slider.setAttribute("aria-valuemax", chart.rows.length);
  slider.setAttribute("aria-valuenow", 1);
  for (const plot of chart.plots) {
    plot.addEventListener("pointermove", (event) => { if (!pinned) show(chart, nearestTo(chart, plot, event)); });
    plot.addEventListener("click", (event) => { pinned = !pinned; show(chart, nearestTo(chart, plot, event)); });
    plot.addEventListener("pointerleave", () => hide(chart));
  }
  slider.addEventListener("focus", () => { if (slider.matches(":focus-visible")) show(chart, chart.at); });
  slider.addEventListener("blur", () => hide(chart));
  slider.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (Object.hasOwn(steps, event.key)) show(chart, chart.at + steps[event.key]);
    else if (Object.hasOwn(keys, event.key)) keys[event.key](chart);
    else return;
    event.preventDefault();
  });
}
for (const strip of all("figure .strip[role=img]")) {
  const tell = () => showTip(strip.closest("figure"), strip, 0.05, [strip.getAttribute("aria-label")]);
  strip.setAttribute("tabindex", 0);
  strip.addEventListener("pointerenter", tell);
  strip.addEventListener("focus", tell);
  strip.addEventListener("pointerleave", hideTip);
  strip.addEventListener("blur", hideTip);
  strip.addEventListener("keydown", (event) => { if (event.key === "Enter") strip.parentElement.querySelector("a")?.click(); });
}

/** An address such as #course@90 leads to that second; says whether this one does. */
const showMoment = (address) => {
  const [, id, second] = /^(.+)@(\d+)$/.exec(address) ?? [];
  const chart = charts.find((one) => one.seconds > 0 && one.section.id === id);
  if (chart === undefined) return false;
  chart.figure.scrollIntoView();
  pinned = true;
  show(chart, chart.rows.findLastIndex((row) => parseInt(row.cells[0].textContent) <= second));
  return true;
};
const unfoldTarget = () => {
  const address = decodeURIComponent(location.hash.slice(1));
  const target = document.getElementById(address);
  if (showMoment(address) || target === null) return;
  target.hidden = false;
  const group = target.closest(".rule-group");
  if (group !== null) group.hidden = false;
  for (let around = target.parentElement; around !== null; around = around.parentElement) if (around.tagName === "DETAILS") around.open = true;
  if (target.tagName === "DETAILS") {
    target.open = true;
    target.querySelector("summary").focus({ preventScroll: true });
  }
  target.scrollIntoView();
};
addEventListener("hashchange", unfoldTarget);
if (location.hash !== "") unfoldTarget();
`;
