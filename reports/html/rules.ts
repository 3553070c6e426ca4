import type { VNode } from "preact";
import { type RuleEntry, type RuleGroup, type Rules, lookOf } from "../document/model.ts";
import { plural } from "../text/figures.ts";
import { verdictOrder, wordOf } from "../text/verdicts.ts";
import { el, type Child, mark } from "./element.ts";

/** All rules: a map, filters, and one line each that unfolds to what `body` draws. */
export const rulesNode = ({ groups }: Rules, body: (entry: RuleEntry) => Child): readonly Child[] => [
  overviewMap(groups),
  filters(groups.flatMap(({ rules }) => rules)),
  groups.map(({ title, rules }) =>
    el(
      "section.rule-group",
      el("h3", title, " ", el("span.soft", tally(rules))),
      rules.map((entry) => ruleNode(entry, body)),
    ),
  ),
];

const ruleNode = (entry: RuleEntry, body: (entry: RuleEntry) => Child): VNode =>
  el(
    "details.rule",
    { id: entry.anchor, "data-kind": entry.kind, "data-level": entry.level },
    el(
      "summary",
      mark(entry.kind),
      el("span.id", entry.id),
      el("span.sentence", entry.sentence),
      el("span.cases.soft", entry.cases === 0 ? wordOf(entry.kind) : plural(entry.cases, "case")),
    ),
    el("div.rule-body", body(entry)),
  );

const tally = (rules: readonly RuleEntry[]): string =>
  verdictOrder
    .flatMap((kind) => {
      const count = rules.filter((one) => one.kind === kind).length;
      return count === 0 ? [] : [`${count} ${wordOf(kind)}`];
    })
    .join(", ");

const overviewMap = (groups: readonly RuleGroup[]): VNode =>
  el(
    "nav.map",
    { "aria-label": "All rules at a glance" },
    groups.map(({ title, rules }) =>
      el(
        "div",
        el("span.soft", title),
        el(
          "ul",
          rules.map(({ id, kind, anchor }) =>
            el(
              "li",
              el(
                "a",
                {
                  class: `cell ${lookOf[kind][0]}`,
                  href: `#${anchor}`,
                  title: `${id}: ${wordOf(kind)}`,
                },
                mark(kind),
                el("span.heard", ` ${id}`),
              ),
            ),
          ),
        ),
      ),
    ),
  );

const filters = (rules: readonly RuleEntry[]): VNode => {
  const kinds = verdictOrder.filter((kind) => rules.some((one) => one.kind === kind));
  return el(
    "div.filters",
    { hidden: true, role: "search", "aria-label": "Rules" },
    el(
      "label",
      el("span.heard", "Find rules"),
      el("input", { type: "search", class: "find", placeholder: "Find a rule" }),
    ),
    kinds.map((kind) =>
      el(
        "button",
        { type: "button", class: "kind", "data-kind": kind, "aria-pressed": "false" },
        mark(kind),
        ` ${rules.filter((one) => one.kind === kind).length} ${wordOf(kind)}`,
      ),
    ),
    el("button", { type: "button", class: "unfold" }, "Expand all"),
    el("span.found.soft", { role: "status" }),
  );
};
