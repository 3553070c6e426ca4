import type { Case } from "../../conformance/contract/cases.ts";
import { amountOf, plural } from "../text/figures.ts";
import type { Metric } from "./shape.ts";

/** The figures that two load runs have in common. They are shown, not judged: two runs cannot tell a change from chance. */
export const compareSpeed = (base: readonly Case[], head: readonly Case[]): readonly Metric[] =>
  head.flatMap(({ id, status, measured }): readonly Metric[] => {
    const other = base.find((one) => one.id === id)?.measured;
    return status !== "measured" || measured === undefined || other === undefined
      ? []
      : [{ id, unit: measured.unit as Metric["unit"], base: other.value, head: measured.value }];
  });

/** The metrics with a verdict, as items of the comparison. */
export const speedCases = (metrics: readonly Metric[], earlier: number): readonly Case[] =>
  metrics.flatMap((one): readonly Case[] => {
    const { id, unit, limits, head, verdict } = one;
    if (limits === undefined || verdict === undefined) return [];
    const said = (value: number): string => amountOf({ value, unit });
    return [
      {
        id,
        group: "speed",
        status: isWorse(one) ? "failed" : "passed",
        verdict,
        expected: `${said(limits.low)} to ${said(limits.high)}, as in ${plural(earlier, "earlier run")}; usually ${said(limits.usual)}`,
        seen: said(head),
        measured: { value: head, unit, interval: [limits.low, limits.high] },
      },
    ];
  });

export const isWorse = ({ verdict }: Pick<Metric, "verdict">): boolean =>
  verdict === "slower" || verdict === "more failures";
