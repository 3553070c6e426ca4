import { createHash } from "node:crypto";
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { el, link, type Child } from "./element.ts";
import { iconSheet } from "./icons.ts";
import type { Chapter } from "../document/chapters.ts";
import type { Doc, Tone } from "../document/model.ts";
import { script } from "./script.ts";
import { style } from "./style.ts";

/**
 * A self-contained page as text: it includes its style, script and icons, and its content security policy permits
 * nothing else. One of its parts has the id `answer`.
 */
export const renderPage = (
  { title, look }: Doc,
  chapters: readonly Chapter[],
  ...main: readonly Child[]
): string => {
  const page = el(
    "html",
    { lang: "en" },
    head(title, look[0]),
    el(
      "body",
      el("a.skip", { href: "#answer" }, "Skip to the result"),
      iconSheet(),
      masthead(),
      el("div.page", navigation(chapters), el("main", main)),
    ),
  );
  // Style and script are inserted after rendering, which would escape them; the policy has the hashes of
  // their bytes.
  return `<!doctype html>\n${renderToString(page)
    .replace("</head>", () => `<style>${style}</style></head>`)
    .replace("</body>", () => `<script>${script}</script></body>`)}\n`;
};

const sha256 = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing may be loaded or sent; the only style and script allowed are named by their hashes. */
const policy = [
  "default-src 'none'",
  `style-src ${sha256(style)}`,
  `script-src ${sha256(script)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const iconColours: Readonly<Record<Tone, string>> = {
  good: "14744a",
  bad: "b3261e",
  warn: "7a5200",
  open: "7a5200",
  seen: "1f5f99",
  none: "55636f",
};

const head = (title: string, tone: Tone): VNode => {
  const colour = iconColours[tone];
  const icon = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%23${colour}'/%3E%3C/svg%3E`;
  return el(
    "head",
    el("meta", { charset: "utf-8" }),
    el("meta", { "http-equiv": "Content-Security-Policy", content: policy }),
    el("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    el("meta", { name: "color-scheme", content: "light dark" }),
    el("meta", { name: "referrer", content: "no-referrer" }),
    el("title", title),
    el("link", { rel: "icon", href: icon }),
  );
};

const masthead = (): VNode =>
  el(
    "header.masthead",
    el(
      "span.wordmark",
      el(
        "svg",
        { width: 22, height: 22, viewBox: "0 0 22 22", "aria-hidden": "true" },
        el("rect.stone", { width: 22, height: 22, rx: 5 }),
        el("path.streak", { d: "M5 15.5 17 6.5" }),
      ),
      "Touchstone",
    ),
    el("button", { type: "button", class: "theme", hidden: true }, "Dark"),
  );

const navigation = (chapters: readonly Chapter[]): VNode =>
  el(
    "nav.contents",
    { "aria-label": "Contents" },
    el("ul", el("li", link("answer", "Result"))),
    chapters.map(({ title, prefix, document }) => [
      chapters.length > 1 && el("a.chapter", { href: `#${prefix}top` }, title),
      el(
        "ul",
        document.sections.map((one) => el("li", link(one.id, one.title))),
      ),
    ]),
  );
