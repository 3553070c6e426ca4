import type { VNode } from "preact";
import { drifted } from "../../conformance/contract/outcome.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { knownRequirement } from "../terminal/titles.ts";
import { compactFields, words } from "../text/compact.ts";
import { leavesOf, parseFingerprint } from "../text/leaves.ts";
import { el, type Child } from "./element.ts";
import { link, table } from "./parts.ts";
import { ruleAnchor, type Place } from "./rule-card.ts";

/** What the service does where the document leaves it open; a pinned fingerprint that changed stands with the one seen. */
export const observed = (
  record: RunRecord,
  pinned: Readonly<Record<string, string>>,
  place: Place,
): VNode | undefined => {
  const rows = record.rules.flatMap(({ id, verdict }): (readonly Child[])[] => {
    if (verdict.kind !== "observed") return [];
    const was = Object.hasOwn(pinned, id) ? pinned[id] : undefined;
    return [
      [
        el(
          "div",
          {},
          link(ruleAnchor(place, id), id),
          el("div", { class: "soft" }, knownRequirement(id)?.sentence ?? ""),
        ),
        [
          said(verdict.fingerprint),
          was === undefined || was === verdict.fingerprint
            ? undefined
            : el("div", { class: "drift" }, el("b", {}, "The profile pins"), said(was)),
        ],
      ],
    ];
  });
  return rows.length === 0
    ? undefined
    : table(
        "Observed where the document leaves it open",
        ["What was watched", "What the service does"],
        rows,
      );
};

/** Pinned observations that are not what was pinned; nothing where none changed. */
export const drift = (
  record: RunRecord,
  pinned: Readonly<Record<string, string>>,
  place: Place,
): VNode | undefined => {
  const changed = new Set<string>(drifted(record.rules, pinned));
  const rows = record.rules.flatMap(({ id, verdict }) =>
    verdict.kind === "observed" && changed.has(id)
      ? [[link(ruleAnchor(place, id), id), said(verdict.fingerprint), said(pinned[id] ?? "")]]
      : [],
  );
  return rows.length === 0
    ? undefined
    : table(
        "Pinned observations that changed",
        ["What was watched", "What the service does", "What the profile pins"],
        rows,
      );
};

/** A fingerprint by its values: what several fields have in common is said once, with their names. */
const said = (fingerprint: string): Child => {
  const value = parseFingerprint(fingerprint);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return compactFields(value);
  const byLeaf = Map.groupBy(leavesOf(value), ([, leaf]) => leaf);
  return el(
    "ul",
    { class: "plain" },
    [...byLeaf].map(([leaf, members]) => {
      const names = members.map(([name]) => words(name));
      return names.length === 1
        ? el("li", {}, el("span", { class: "soft" }, `${names[0]} `), el("b", {}, leaf))
        : el("li", {}, el("b", {}, leaf), el("span", { class: "soft" }, ` ${names.join(" · ")}`));
    }),
  );
};
