import Type, { Optional } from "typebox";
import { type Frozen, list, number, text } from "./schema.ts";
import { counted } from "./text.ts";

const measurements = ["ms", "share", "per second", "cases", "checks"] as const;

const Measured = Type.Object({
  value: Type.Number(),
  unit: Type.Enum([...measurements]),
  limit: Optional(number("What it was judged by.")),
  bound: Optional(Type.Enum(["at most", "at least"])),
  interval: Optional(
    Type.Tuple([Type.Number(), Type.Number()], { description: "95 % interval of the value." }),
  ),
});
export type Measured = Frozen<typeof Measured>;

/** One judged item of a record, the same whatever wrote it: a gate, a load, a comparison or a duet. */
export const CaseLine = Type.Object({
  id: text("A rule's id, or what was judged, such as `objective list p95`. Unique within the record."),
  group: text("The group of a rule, or objectives, speed, load, waivers and the like."),
  status: Type.Enum(["passed", "failed", "error", "skipped", "measured"], {
    description:
      "How it counts. `skipped` was not judged or is excused, `error` is a fault of Touchstone, and `measured` is a figure without a verdict of its own.",
  }),
  verdict: text("In a word, such as failed, observed or could not run."),
  open: Optional(
    Type.Literal(true, { description: "The record is incomplete, because this had to be judged." }),
  ),
  expected: Optional(text("What was promised; of an observation, what the profile pins.")),
  seen: Optional(text("What was seen, or why nothing was.")),
  measured: Optional(Measured),
  more: Optional(list("Further lines: the part, the input, how often it came back.", Type.String())),
  durationMs: Optional(Type.Number()),
});
export type Case = Frozen<typeof CaseLine>;

export const Cases = list(
  "Every judged item. Reports for CI services, comparisons and the history are made of these.",
  CaseLine,
);

/** Whether it broke a promise or missed a limit, also if that is excused or fails nothing. */
export const isBroken = ({ verdict }: Case): boolean => verdict === "failed" || verdict === "warned";

/** What the service's own way of conforming rules out is settled, though nothing was judged. */
export const isJudged = (one: Case): boolean =>
  isBroken(one) || ["passed", "failed"].includes(one.status) || one.verdict === "not applicable";

export const NOT_REACHED = "not reached";

/** Groups of items that concern a record as a whole: one of them that is open says why. */
const whole: ReadonlySet<string> = new Set(["load", "duet"]);

/** Why a record with these items is no base for conclusions, even if what it did judge failed. */
export const whyOpenCases = (cases: readonly Case[]): string | undefined => {
  if (cases.length === 0) return "nothing was judged";
  const open = cases.filter((one) => one.open === true);
  const ofWhole = open.find(({ group }) => whole.has(group));
  if (ofWhole !== undefined) {
    const { verdict, seen = ofWhole.id } = ofWhole;
    return verdict === "incomplete" ? seen : `${verdict}: ${seen}`;
  }
  const unreached = open.filter(({ verdict }) => verdict === NOT_REACHED).length;
  if (unreached > 0) return `${counted(unreached, "rule was", "rules were")} not reached`;
  const [first] = open;
  if (first === undefined) return undefined;
  const isLimit = ({ group }: Case): boolean => group === "objectives" || group === "speed";
  const alike = cases.filter(
    (one) => one.status !== "measured" && isLimit(one) === isLimit(first) && !whole.has(one.group),
  );
  const unjudged = alike.filter((one) => !isJudged(one)).length;
  return `${unjudged} of ${counted(alike.length, isLimit(first) ? "limit" : "rule")} could not be judged`;
};
