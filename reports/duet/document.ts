import { Type, type TProperties, type TSchema } from "typebox";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { text, type Frozen, integer, number } from "../../conformance/contract/schema.ts";
import { latencyFloorMs, latencyFloors } from "../statistics/floors.ts";
import path from "node:path";
import { Cases, type Case } from "../../conformance/contract/cases.ts";
import { change, percent, plural } from "../text/figures.ts";
import { jsonFile } from "../../conformance/contract/harmless-text.ts";
import { placeFiles } from "../place.ts";

const { Optional } = Type;

const closed = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
const literals = <T extends string>(names: readonly T[]) => Type.Enum([...names]);
const amount = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 0 });

export const duetMetrics = ["p50", "p95", "p99", "throughput"] as const;
export type DuetMetric = (typeof duetMetrics)[number];
/** Rests on few requests of a block, so it has a verdict only where it can tell, and never makes a duet inconclusive. */
export const tail: DuetMetric = "p99";
const metric = literals(duetMetrics);
const memberVerdict = literals(["regressed", "improved", "unchanged", "inconclusive"]);
export type MemberVerdict = Frozen<typeof memberVerdict>;

const RulesShape = closed({
  floors: Type.Partial(closed({ p50: amount, p95: amount, p99: amount, throughput: amount })),
  floorMs: number("A latency change below this many milliseconds does not matter.", { minimum: 0 }),
  alpha: number("Probability of at least one false regression or improvement over all gated metrics.", {
    minimum: 0,
  }),
  power: number("Probability of detecting the stated smallest effect.", { minimum: 0 }),
  pairs: count,
});
export type DuetRules = Frozen<typeof RulesShape>;

export const usualRules: Omit<DuetRules, "pairs"> = {
  floors: latencyFloors,
  floorMs: latencyFloorMs,
  alpha: 0.05,
  power: 0.9,
};

const share = (description: string) => Optional(number(description, { minimum: 0 }));

const interval = (of: TSchema, description: string) =>
  Optional(
    Type.Unsafe<readonly [low: number, high: number]>(
      Type.Array(of, { minItems: 2, maxItems: 2, description }),
    ),
  );

/** One metric of one endpoint, compared over the pairs. Fields of gated metrics only are absent for the others. */
const MemberShape = closed({
  endpoint: Type.String(),
  metric,
  pairs: count,
  a: number("Geometric mean over the pairs: milliseconds, or requests per second; 0 without pairs.", {
    minimum: 0,
  }),
  b: amount,
  ratio: number("Side b divided by side a.", { minimum: 0 }),
  interval: interval(amount, "95 % t interval of the ratio, for this metric alone; absent below two pairs."),
  deviation: number("Standard deviation of the logarithms of the pairs' ratios.", { minimum: 0 }),
  adjustedP: share("p value of the t test, adjusted by Holm over the gated family."),
  floor: share("The smallest change, as a share of side a, that matters."),
  smallestDetectable: share(
    "The smallest change, as a share of side a, that this duet detects with its power.",
  ),
  verdict: Optional(memberVerdict),
});
export type Member = Frozen<typeof MemberShape>;

/** The shares of failed requests of all endpoints together, judged over the pairs. */
const FailuresShape = closed({
  a: number("Share of side a's requests that failed: mean over the pairs.", { minimum: 0 }),
  b: amount,
  interval: interval(
    Type.Number(),
    "95 % t interval of side b's share less side a's; absent below two pairs.",
  ),
  adjustedP: number("p value of the t test, adjusted by Holm over the gated family.", { minimum: 0 }),
  floor: number("The smallest difference of the shares that matters.", { minimum: 0 }),
  smallestDetectable: share("The smallest difference that this duet detects with its power."),
  verdict: memberVerdict,
});
export type Failures = Frozen<typeof FailuresShape>;

const duetEnds = ["all pairs are there", "too many pairs were spoilt"] as const;
export type DuetEnd = (typeof duetEnds)[number];

const resultShape = {
  verdict: memberVerdict,
  pairs: integer("pairs that were judged", { minimum: 0 }),
  planned: count,
  spoilt: Type.Array(closed({ pair: count, reasons: Type.Array(Type.String()) }), {
    description: "Pairs left out, with the reasons of their blocks.",
  }),
  members: Type.Array(MemberShape),
  failures: Optional(FailuresShape),
  rules: RulesShape,
};
const ResultShape = closed(resultShape);
export type DuetResult = Frozen<typeof ResultShape>;

export const duetVersion = 2;

const side = literals(["a", "b"]);

const BlockShape = closed({
  pair: count,
  side,
  endpoint: text("empty if no request was granted in the whole block"),
  p50Ms: amount,
  p95Ms: amount,
  p99Ms: amount,
  throughput: amount,
  requests: Type.Optional(count),
  failed: Type.Optional(count),
  spoilt: Type.Optional(Type.String()),
});

/** duet.json: what was requested, the result so far, and every block that was played. */
export const DuetDocument = closed({
  version: Type.Literal(duetVersion),
  command: Type.Literal("duet"),
  tool: Type.String(),
  state: literals(["open", "ended", "interrupted"]),
  startedAt: Type.String({ format: "date-time" }),
  a: Type.String(),
  b: Type.String(),
  scenario: Type.String(),
  rate: amount,
  blockMs: amount,
  warmUpMs: amount,
  seed: count,
  ...resultShape,
  ended: Type.Optional(literals(duetEnds)),
  broken: Type.Array(closed({ side, rule: Type.String(), times: count })),
  cases: Cases,
  blocks: Type.Array(BlockShape),
});
export type DuetDocument = Frozen<typeof DuetDocument>;

type Played = Pick<DuetDocument, "state" | "broken" | "verdict" | "pairs" | "planned">;

/** Why a duet is incomplete: exit code, headline and reports for CI all ask this. */
export const whyDuetIncomplete = ({ state, pairs, planned }: Played): string | undefined => {
  if (state !== "ended") return "the duet did not play to its end";
  return pairs < planned ? `only ${pairs} of ${planned} planned pairs were clean` : undefined;
};

/**
 * Exit code of a duet: 1 if b is slower, or breaks a promise under load at any speed; 3 if it is incomplete; otherwise
 * 0, even if inconclusive.
 */
export const duetExitCode = (duet: Played): number => {
  if (duet.state !== "ended") return exitCodes.interrupted;
  if (duet.broken.some(({ side: broke }) => broke === "b")) return exitCodes.failed;
  if (duet.verdict === "regressed") return exitCodes.failed;
  return whyDuetIncomplete(duet) === undefined ? exitCodes.passed : exitCodes.incomplete;
};

const statuses: Readonly<Record<MemberVerdict, Case["status"]>> = {
  regressed: "failed",
  improved: "passed",
  unchanged: "passed",
  inconclusive: "skipped",
};

/** What a duet judged, item by item: side b against side a. */
export const duetCases = (duet: Played & Pick<DuetDocument, "members" | "failures">): readonly Case[] => {
  const why = whyDuetIncomplete(duet);
  const judged = (id: string, group: string, verdict: MemberVerdict): Case => ({
    id,
    group,
    status: statuses[verdict],
    verdict,
    ...(verdict === "inconclusive" && duet.verdict === verdict && { open: true as const }),
  });
  return [
    ...(why === undefined
      ? []
      : [
          {
            id: "the duet is complete",
            group: "duet",
            status: "skipped",
            verdict: "incomplete",
            open: true,
            seen: why,
          } as const,
        ]),
    ...duet.members.flatMap(({ endpoint, metric: of, verdict, ratio, interval: range }) =>
      verdict === undefined
        ? []
        : [
            {
              ...judged(`${endpoint} ${of}`, "speed", verdict),
              seen: `${change(ratio)} of b against a${range === undefined ? "" : `, 95 % interval ${range.map(change).join(" to ")}`}`,
            },
          ],
    ),
    ...(duet.failures === undefined
      ? []
      : [
          {
            ...judged("failed requests", "failures", duet.failures.verdict),
            seen: `${percent(duet.failures.b)} of b, ${percent(duet.failures.a)} of a`,
          },
        ]),
    ...duet.broken.map(({ side: by, rule, times }): Case => ({
      id: `${rule} (${by})`,
      group: "promises",
      status: by === "b" ? "failed" : "passed",
      verdict: "broken",
      seen: `broken ${plural(times, "time")}`,
    })),
  ];
};

export const duetFile = "duet.json";

/** Writes or replaces duet.json. Throws ConfigurationError. */
export const writeDuet = (directory: string, document: DuetDocument): void =>
  placeFiles({ folder: directory, flag: "--out", isPrivate: true }, [
    [path.join(directory, duetFile), jsonFile(document)],
  ]);
