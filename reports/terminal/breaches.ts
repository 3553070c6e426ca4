import type { RuleResult } from "../../conformance/contract/record.ts";
import { cameBack, othersOf, type Broken } from "../text/breach.ts";
import { shellWord } from "../text/figures.ts";
import { fold, indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { history } from "./history.ts";
import type { Page } from "./palette.ts";
import { definitions } from "./table.ts";
import { knownRequirement, sectionsOf } from "./titles.ts";
import { symbolOf } from "./verdicts.ts";

export interface BreachOptions extends Page {
  /** The run directory as a user types it. */
  readonly run: string;
  /** How a user calls Touchstone. */
  readonly program: string;
  /** Whether the exchanges that show the breach are printed. */
  readonly histories: boolean;
}

const LABEL = 8;

/** A broken promise in full: its sentence, what was expected and seen, how to see it again, and the exchanges. */
export const breachBlock = (result: RuleResult, options: BreachOptions): string[] => {
  const { verdict } = result;
  if (!("breach" in verdict)) return [];
  const { palette } = options;
  const known = knownRequirement(result.id);
  const columns = options.columns;
  const lines = definitions(
    entriesOf(verdict, result, options).map(([label, text]) => [palette.dim(label), text] as const),
    LABEL,
  );
  return [
    `${symbolOf(verdict.kind, palette)} ${palette.bold(safe(result.id))}  ${palette.dim(known === undefined ? "" : `${result.level}, ${sectionsOf(known)}`)}`.trimEnd(),
    ...indent(known === undefined ? [] : wrap(known.sentence, columns - 2), 2),
    ...(known?.level === "advisory" ? indent([palette.dim(known.clause)], 2) : []),
    ...indent(lines, 2),
  ];
};

const entriesOf = (
  verdict: Broken,
  { id, exchanges }: RuleResult,
  options: BreachOptions,
): (readonly [label: string, lines: readonly string[]])[] => {
  const { breach } = verdict;
  const { reproduction } = breach;
  const columns = options.columns - LABEL - 4;
  const sentence = (text: string): string[] => wrap(safe(text), columns);
  const others = othersOf(verdict);
  return [
    ...(breach.part === undefined ? [] : [["part", sentence(breach.part)] as const]),
    ["expected", sentence(breach.expected)],
    ["actual", sentence(breach.actual).map(options.palette.bold)],
    ...(reproduction.counterexample === undefined
      ? []
      : [["input", fold(safe(reproduction.counterexample), columns, 4)] as const]),
    ...(others === undefined ? [] : [["also", fold(others, columns, 3)] as const]),
    ["again", [cameBack(reproduction.replayed)]],
    ...(options.histories && exchanges.length > 0
      ? [
          [
            "history",
            history(exchanges, {
              ...options,
              about: `${breach.expected} ${breach.actual}`,
              left: LABEL + 4,
            }),
          ] as const,
        ]
      : []),
    ["replay", [options.palette.cyan(`${options.program} replay ${shellWord(safe(options.run))} ${id}`)]],
  ];
};
