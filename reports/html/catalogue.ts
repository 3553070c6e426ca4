import type { VNode } from "preact";
import { requirementIds } from "../../conformance/contract/catalogue.ts";
import type { RuleResult } from "../../conformance/contract/record.ts";
import { groups } from "../../conformance/contract/requirement.ts";
import { groupTitles, knownRequirement } from "../terminal/titles.ts";
import { plural } from "../text/figures.ts";
import { verdictOrder, wordOf } from "../text/verdicts.ts";
import { el, type Child } from "./element.ts";
import type { GateView } from "./gather/view.ts";
import { mark, toneOf } from "./mark.ts";
import { table } from "./parts.ts";
import { ruleAnchor, ruleCard, type Place } from "./rule-card.ts";

/** All rules by the sections of the document: a map of them, filters, a card for each, and what cannot be tested. */
export const everyRule = (view: GateView, place: Place): readonly Child[] => {
  const { rules } = view.record;
  const named = groups.map((group) => ({
    title: groupTitles[group],
    results: rules.filter((result) => result.group === group),
  }));
  // A record of another version may have groups that this one does not know: none of its rules may get lost.
  const others = rules.filter((result) => !groups.includes(result.group));
  const byGroup = [...named, { title: "Others", results: others }].filter(
    ({ results }) => results.length > 0,
  );
  return [
    overviewMap(byGroup, place),
    filters(rules),
    ...byGroup.map(({ title, results }) =>
      el(
        "section",
        { class: "rule-group" },
        el("h3", {}, title, " ", el("span", { class: "soft" }, tally(results))),
        results.map((result) => ruleCard(result, view, place)),
      ),
    ),
    ...untested(view),
  ];
};

const tally = (results: readonly RuleResult[]): string =>
  verdictOrder
    .flatMap((kind) => {
      const count = results.filter(({ verdict }) => verdict.kind === kind).length;
      return count === 0 ? [] : [`${count} ${wordOf(kind)}`];
    })
    .join(", ");

/** All rules at a glance: a cell each, in the order of the document. */
const overviewMap = (
  byGroup: readonly { readonly title: string; readonly results: readonly RuleResult[] }[],
  place: Place,
): VNode =>
  el(
    "nav",
    { class: "map", "aria-label": "All rules at a glance" },
    byGroup.map(({ title, results }) =>
      el(
        "div",
        {},
        el("span", { class: "soft" }, title),
        el(
          "ul",
          {},
          results.map(({ id, verdict }) =>
            el(
              "li",
              {},
              el(
                "a",
                {
                  class: `cell ${toneOf(verdict.kind)}`,
                  href: `#${ruleAnchor(place, id)}`,
                  title: `${id}: ${wordOf(verdict.kind)}`,
                },
                mark(verdict.kind),
                el("span", { class: "heard" }, ` ${id}`),
              ),
            ),
          ),
        ),
      ),
    ),
  );

/** Narrows the list down; it appears where scripts run. */
const filters = (rules: readonly RuleResult[]): VNode => {
  const kinds = verdictOrder.filter((kind) => rules.some(({ verdict }) => verdict.kind === kind));
  return el(
    "div",
    { class: "filters", hidden: true, role: "search", "aria-label": "Rules" },
    el(
      "label",
      {},
      el("span", { class: "heard" }, "Find rules"),
      el("input", { type: "search", class: "find", placeholder: "Find a rule" }),
    ),
    kinds.map((kind) =>
      el(
        "button",
        { type: "button", class: "kind", "data-kind": kind, "aria-pressed": "false" },
        mark(kind),
        ` ${rules.filter(({ verdict }) => verdict.kind === kind).length} ${wordOf(kind)}`,
      ),
    ),
    el("button", { type: "button", class: "unfold" }, "Unfold all"),
    el("span", { class: "found soft", role: "status" }),
  );
};

/** What cannot be seen from outside is listed too: the catalogue covers the whole document. */
const untested = ({ record }: GateView): readonly Child[] => {
  const asked = new Set<string>(record.selected);
  const testable = requirementIds.filter((id) => knownRequirement(id)?.level !== "untestable");
  const unasked = testable.filter((id) => !asked.has(id));
  const rows = requirementIds.flatMap((id) => {
    const known = knownRequirement(id);
    return known?.level === "untestable" ? [[el("code", {}, id), known.sentence, known.reason]] : [];
  });
  return [
    unasked.length > 0 &&
      el(
        "p",
        { class: "soft" },
        `${plural(unasked.length, "rule was", "rules were")} not asked for: ${unasked.join(", ")}.`,
      ),
    el("h3", {}, groupTitles.untestable),
    table(groupTitles.untestable, ["Statement", "What the document says", "Why it cannot be tested"], rows),
  ];
};
