/**
 * Interactive pictures: values under the pointer and the arrow keys, one cursor and one zoom for all that share a time
 * axis. The values come from each figure's table, so that the page holds nothing twice.
 */
export const pictureScript = String.raw`
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

const partOf = (chart) => {
  const plot = chart.querySelector(".plot");
  const box = plot.querySelector(".box");
  return {
    plot,
    box,
    heightPx: Number(box.getAttribute("height")),
    ticks: all(":scope > text", plot),
    marks: all(":scope > .broken", plot).map((mark) => ({ mark, at: parseFloat(mark.getAttribute("x")) })),
    cursor: inSvg(plot, "line", { class: "cursor", y1: 0, y2: box.getAttribute("height"), visibility: "hidden" }),
  };
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
    parts: drawn.map(partOf),
    at: 0, place: undefined, zoom: [0, 100],
  }];
});
const peersOf = (chart) =>
  chart.seconds === 0 ? [chart] : charts.filter((one) => one.section === chart.section && one.seconds === chart.seconds);
const inView = ({ zoom: [from, to] }, place) => ((place - from) / (to - from)) * 100;
const nearest = ({ places }, place) =>
  places.reduce((best, one, at) => (Math.abs(one - place) < Math.abs(places[best] - place) ? at : best), 0);

const units = [[3600, "h"], [60, "min"], [1, "s"]];
const ticksIn = ({ seconds, zoom }) => {
  const [from, to] = zoom.map((percent) => (percent / 100) * seconds);
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400].find((one) => (to - from) / one <= 6) ?? 43200;
  const [size, name] = units.find(([least]) => step >= least);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, at) => (first + at) * step)
    .map((second) => ({ at: inView({ zoom }, (second / seconds) * 100), label: second / size + " " + name }))
    .filter(({ at }) => at > 3 && at < 97);
};
const redraw = (chart) => {
  const isWhole = chart.zoom[0] === 0 && chart.zoom[1] === 100;
  const place = chart.place === undefined ? -1 : inView(chart, chart.place);
  for (const { plot, box, heightPx, ticks, marks, cursor } of chart.parts) {
    box.setAttribute("viewBox", chart.zoom[0] + " 0 " + (chart.zoom[1] - chart.zoom[0]) + " " + heightPx);
    for (const { mark, at } of marks) {
      mark.setAttribute("x", inView(chart, at) + "%");
      mark.setAttribute("visibility", inView(chart, at) < 0 || inView(chart, at) > 100 ? "hidden" : "visible");
    }
    cursor.setAttribute("x1", place + "%");
    cursor.setAttribute("x2", place + "%");
    cursor.setAttribute("visibility", place < 0 || place > 100 ? "hidden" : "visible");
    if (ticks.length === 0) continue;
    for (const old of all(":scope > text", plot)) old.remove();
    if (isWhole) plot.append(...ticks);
    else for (const { at, label } of ticksIn(chart)) inSvg(plot, "text", { x: at + "%", y: heightPx + 17, "text-anchor": "middle" }).textContent = label;
  }
};
/** At least two seconds stay in view. */
const zoomTo = (chart, from, to) => {
  const width = Math.min(100, Math.max(200 / chart.seconds, to - from));
  const low = Math.max(0, Math.min(100 - width, from));
  for (const peer of peersOf(chart)) {
    peer.zoom = [low, low + width];
    redraw(peer);
    const [first, last] = peer.zoom.map((percent) => Math.round((percent / 100) * peer.seconds));
    if (peer.range) peer.range.textContent = width === 100 ? "" : "Seconds " + first + " to " + last;
  }
};
const zoomBy = (chart, factor) => {
  const [from, to] = chart.zoom;
  const middle = chart.place ?? (from + to) / 2;
  zoomTo(chart, middle - (middle - from) * factor, middle + (to - middle) * factor);
};

const valuesOf = ({ heads, rows, at }) =>
  all("th, td", rows[at]).flatMap((cell, column) => (cell.textContent === "" ? [] : [[heads[column], cell]]));
const show = (chart, index) => {
  const at = Math.max(0, Math.min(chart.rows.length - 1, index));
  const place = chart.places[at];
  const [from, to] = chart.zoom;
  if (place < from || place > to) zoomTo(chart, place - (to - from) / 2, place + (to - from) / 2);
  for (const peer of peersOf(chart)) {
    peer.place = place;
    peer.at = peer === chart ? at : nearest(peer, place);
    redraw(peer);
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
  showTip(chart.figure, chart.parts[0].plot, inView(chart, place) / 100, [list]);
};
const hide = (chart) => {
  if (pinned) return;
  hideTip();
  for (const peer of peersOf(chart)) { peer.place = undefined; redraw(peer); }
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
  "+": (chart) => chart.seconds > 0 && zoomBy(chart, 0.5),
  "-": (chart) => chart.seconds > 0 && zoomBy(chart, 2),
  0: (chart) => chart.seconds > 0 && zoomTo(chart, 0, 100),
};
const placeUnder = (chart, plot, event) => {
  const { left, width } = plot.getBoundingClientRect();
  const [from, to] = chart.zoom;
  return from + Math.max(0, Math.min(1, (event.clientX - left) / width)) * (to - from);
};
const listenTo = (chart, { plot, heightPx }) => {
  let started;
  let chosen;
  plot.addEventListener("pointermove", (event) => {
    const place = placeUnder(chart, plot, event);
    if (!pinned) show(chart, nearest(chart, place));
    if (started === undefined || chart.seconds === 0) return;
    chosen ??= inSvg(plot, "rect", { class: "chosen", y: 0, height: heightPx });
    chosen.setAttribute("x", inView(chart, Math.min(started, place)) + "%");
    chosen.setAttribute("width", Math.abs(inView(chart, place) - inView(chart, started)) + "%");
  });
  plot.addEventListener("pointerdown", (event) => {
    started = placeUnder(chart, plot, event);
    plot.setPointerCapture(event.pointerId);
  });
  plot.addEventListener("pointerup", (event) => {
    const ended = placeUnder(chart, plot, event);
    const isWide = Math.abs(inView(chart, ended) - inView(chart, started)) > 2;
    if (chart.seconds > 0 && isWide) zoomTo(chart, Math.min(started, ended), Math.max(started, ended));
    else {
      pinned = !pinned;
      show(chart, nearest(chart, ended));
    }
    started = undefined;
    chosen?.remove();
    chosen = undefined;
  });
  plot.addEventListener("pointerleave", () => hide(chart));
};
for (const chart of charts) {
  const { slider } = chart;
  slider.tabIndex = 0;
  slider.setAttribute("role", "slider");
  slider.setAttribute("aria-valuemin", 1);
  slider.setAttribute("aria-valuemax", chart.rows.length);
  slider.setAttribute("aria-valuenow", 1);
  for (const part of chart.parts) listenTo(chart, part);
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
for (const chart of charts.filter((one) => one.seconds > 0 && peersOf(one)[0] === one)) {
  const bar = document.createElement("div");
  bar.className = "zoom";
  for (const [words, does] of [["Zoom in", (one) => zoomBy(one, 0.5)], ["Zoom out", (one) => zoomBy(one, 2)], ["Whole run", (one) => zoomTo(one, 0, 100)]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", () => does(chart));
    bar.append(button);
  }
  chart.range = document.createElement("span");
  chart.range.setAttribute("role", "status");
  const hint = document.createElement("span");
  hint.className = "soft";
  hint.textContent = "Point at a chart to see its values, or drag to zoom. With the keyboard: focus a chart, then press the arrow keys, +, − or Enter.";
  bar.append(chart.range, hint);
  chart.figure.before(bar);
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
`;
