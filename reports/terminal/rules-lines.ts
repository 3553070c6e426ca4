import { lookOf } from "../document/looks.ts";
import { mark, soft, table, type RuleEntry, type Rules, type Text } from "../document/model.ts";
import { elapsed, figure, plural } from "../text/figures.ts";
import { verdictOrder, wordOf } from "../text/verdicts.ts";
import type { Page } from "./palette.ts";
import { apart, tableLines } from "./rich.ts";
import { safe } from "../text/safe.ts";

export const rulesLines = ({ isLong, groups }: Rules, page: Page): string[] => {
  if (!isLong) return groupLines(groups, page);
  const width = Math.max(...groups.flatMap(({ rules }) => rules.map(({ id }) => safe(id).length)));
  return apart(
    groups.map(({ title, rules }) => {
      const rows = table(
        "",
        ["", "", ">", ">"],
        rules.map((rule) => cellsOf(rule, width)),
      );
      return [page.palette.bold(title), ...(rows === undefined ? [] : tableLines(rows, page).slice(1))];
    }),
  );
};

const cellsOf = ({ id, kind, cases, durationMs }: RuleEntry, width: number): readonly Text[] => [
  mark(lookOf[kind], [id.padEnd(width)]),
  wordOf(kind),
  soft(cases === 0 ? "" : plural(cases, "case")),
  soft(elapsed(durationMs)),
];

const groupLines = (groups: Rules["groups"], page: Page): string[] => {
  const all = groups.flatMap(({ rules }) => rules);
  const kinds = verdictOrder.filter((kind) => all.some((rule) => rule.kind === kind));
  const rows = table(
    "",
    ["Rules", ...kinds.map((kind) => `>${wordOf(kind)}`), ">cases"],
    groups.map(({ title, rules }): readonly Text[] => {
      const counts = kinds.map((kind) => rules.filter((rule) => rule.kind === kind).length);
      const worst = kinds.find((kind, at) => counts[at] !== 0 && kind !== "observed") ?? "observed";
      return [
        mark(lookOf[worst], [title]),
        ...counts.map((count) => (count === 0 ? "" : figure(count))),
        soft(figure(rules.reduce((sum, { cases }) => sum + cases, 0))),
      ];
    }),
  );
  return rows === undefined ? [] : tableLines(rows, page);
};
