import type { VNode } from "preact";
import type { Bullet, Text } from "../document/model.ts";
import { percent, upright } from "./chart.ts";
import { el, link, type Child } from "./element.ts";
import { toneMark } from "./icons.ts";

export const textNode = (text: Text): Child => {
  if (typeof text === "string") return unbroken(text);
  if (!("is" in text)) return text.map(textNode);
  switch (text.is) {
    case "strong":
      return el("strong", textNode(text.text));
    case "soft":
      return el("span.soft", textNode(text.text));
    case "code":
      return el("code.wrap", textNode(text.text));
    case "mark":
      return el(
        "span",
        { class: isWord(text.text) ? "with-mark word" : "with-mark" },
        toneMark(...text.look, text.word ?? ""),
        textNode(text.text),
      );
    case "link":
      return link(text.to, textNode(text.text));
    case "file":
      return el("a", { href: text.name }, textNode(text.text));
    case "lines":
      return el(
        "ul.plain",
        text.lines.map((line) => el("li", textNode(line))),
      );
    default:
      return bullet(text);
  }
};

/** A flag such as --max-wait: browsers would break it after a hyphen. Longer ones may be a service's and have to break. */
const FLAG = /(?<![\w-])(--[a-z][a-z-]{1,28})(?![\w-])/;

const unbroken = (text: string): Child =>
  text.includes("--")
    ? text.split(FLAG).map((piece, at) => (at % 2 === 1 ? el("span", { class: "word" }, piece) : piece))
    : text;

/** Verdicts in a table stay on one line; titles may wrap. */
const isWord = (text: Text): boolean => typeof text === "string" && text.length < 16;

export const bullet = ({ measured, interval, limit, wrong, label }: Bullet): VNode => {
  const most = Math.max(limit, measured, interval?.[1] ?? 0) * 1.15 || 1;
  const at = (value: number): string => percent((value / most) * 100);
  return el(
    "svg.bullet",
    { height: 22, role: "img", "aria-label": label },
    el("rect.track", { x: 0, y: 9, width: "100%", height: 4, rx: 2 }),
    el("rect", {
      class: wrong ? "bar-wrong" : "bar-good",
      x: 0,
      y: 7,
      width: at(measured),
      height: 8,
      rx: 2,
    }),
    interval !== undefined &&
      el("line.whisker", { x1: at(interval[0]), x2: at(interval[1]), y1: 11, y2: 11 }),
    upright("limit", (limit / most) * 100, 1, 21),
  );
};
