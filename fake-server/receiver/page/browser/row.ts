import { clockTime, count, seconds } from "../model/format.ts";
import type { Standing } from "../model/standing.ts";
import type { Notification } from "../model/store.ts";
import { element } from "./dom.ts";
import { type Axis, timeline } from "./timeline.ts";

const cell = (name: string, ...children: readonly (Node | string)[]): HTMLElement =>
  element("div", { role: "gridcell", class: `cell ${name}` }, ...children);

/** Time between each push and the one before, in seconds; what the schedule did not expect stands out. */
const gaps = ({ attempts, more }: Notification, { spans, timings }: Standing): (Node | string)[] => {
  const shown = attempts.slice(1, 9).map((_, index) => {
    const gap = (spans[index + 1]?.startMs ?? 0) - (spans[index]?.startMs ?? 0);
    const timing = timings[index + 1] ?? "on-time";
    const plain = timing === "on-time";
    return element(
      "span",
      { class: plain ? "gap" : "gap off", title: plain ? undefined : timing },
      seconds(gap),
    );
  });
  if (shown.length === 0) return [element("span", { class: "none" }, "–")];
  return attempts.length + more > 9 ? [...shown, element("span", { class: "none" }, "…")] : shown;
};

/** What went against the schedule comes first. */
const state = (standing: Standing): Node[] => [
  ...standing.alarms.map((alarm) => element("span", { class: "badge alarm" }, alarm)),
  element("span", { class: `badge ${standing.kind}` }, standing.words),
];

/** One row of the grid. Its place is set by who shows it. */
export const row = (
  notification: Notification,
  standing: Standing,
  marks: Axis,
  nowMs: number,
): HTMLElement => {
  const { id, accountId, attempts, more, number, summary } = notification;
  const first = attempts[0]?.startMs ?? nowMs;
  const title = [id, accountId === undefined ? undefined : `account ${accountId}`].filter(Boolean).join("\n");
  return element(
    "div",
    { role: "row", class: "row", id: `row-${number}`, title: title || undefined },
    cell("first", clockTime(first)),
    cell(
      "what",
      element("span", { class: "id" }, id ?? "no id"),
      element("span", { class: "summary" }, summary),
    ),
    cell("account", accountId ?? "–"),
    cell("state", ...state(standing)),
    cell("pushes", count(attempts.length + more)),
    cell("gaps", ...gaps(notification, standing)),
    cell("time", timeline(notification, standing, marks, nowMs - first)),
  );
};
