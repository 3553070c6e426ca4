import { counted } from "../../../conformance/contract/text.ts";
import type { Explanation } from "../../../conformance/judging/pushes/explain.ts";
import { coarseSender } from "../../../conformance/judging/pushes/polling.ts";
import { flawText } from "../../../conformance/judging/pushes/proof.ts";
import { senderOf } from "../../../conformance/judging/pushes/sender.ts";
import type { Doubt } from "../../../conformance/judging/pushes/cases.ts";
import type { Part } from "../../../conformance/judging/pushes/finding.ts";
import type { PushCase, PushTrace } from "../../../conformance/judging/pushes/trace.ts";

export interface Broken {
  readonly pushCase: PushCase;
  readonly expected: string;
  readonly actual: string;
}

export interface Judged {
  readonly id: string;
  readonly checks: number;
  readonly broken: readonly Broken[];
  /** How many notifications leave it open. */
  readonly open: number;
  readonly note?: string;
}

export const partsOf = (
  id: string,
  pushCases: readonly PushCase[],
  judge: (pushCase: PushCase) => Part | Doubt | "undecided",
): Judged => {
  const parts = pushCases.map((pushCase) => ({ pushCase, part: judge(pushCase) }));
  const broken = parts.flatMap(({ pushCase, part }) =>
    typeof part === "object" && "expected" in part
      ? [{ pushCase, expected: part.expected, actual: part.actual }]
      : [],
  );
  const checks = broken.length + parts.filter(({ part }) => part === "passed").length;
  return {
    id,
    checks,
    broken,
    open: parts.length - checks,
  };
};

/** Adds how many are open; `what` follows the noun, such as "event", whose plural has an s. */
export const noted = (judged: Judged, noun: string, what: (were: string) => string): Judged => {
  if (judged.open === 0) return judged;
  const open = `${counted(judged.open, noun)} ${what(judged.open === 1 ? "was" : "were")}`;
  return { ...judged, note: judged.note === undefined ? open : `${judged.note}; ${open}` };
};

/** Leaves a notification open whose push may have been on a connection that broke before the receiver could read it. */
export const openIfLost = (judged: Judged, noun: string, lost: number): Judged => {
  const told = noted(
    { ...judged, open: lost },
    noun,
    (were) =>
      `${were} not judged: a connection broke before the receiver could read a push, when one was due`,
  );
  return { ...told, open: judged.open + lost };
};

export const failing = ({ pushCases }: PushTrace): readonly PushCase[] =>
  pushCases.filter(({ purpose }) => purpose === "never" || purpose === "late");

export const FAILING = "failing notification";
export const notWatched = (were: string): string =>
  `${were} not watched to the end of ${were === "was" ? "its" : "their"} retries`;

const retriesOf = (explanations: readonly Explanation[]): number =>
  explanations.reduce((sum, { journal }) => sum + Math.max(0, journal.arrivals.length - 1), 0);

/**
 * By the hypothesis within the cap that the fewest notifications contradict. Those that are late in the way of a sender
 * that polls are left open, as in the gate.
 */
export const scheduled = (trace: PushTrace): Judged => {
  const sender = senderOf(trace);
  const keeping = sender.all.filter(({ hypothesis: { reading } }) => reading.keepsCap);
  const [nearest] = keeping.toSorted((a, b) => a.flawed.length - b.flawed.length);
  const polled = coarseSender(sender);
  const { timed, flawed, hypothesis } = polled?.of ??
    nearest ?? { timed: [], flawed: [], hypothesis: undefined };
  const lost = timed.filter((one) => one.lost > 0);
  const open = timed.filter(
    ({ next, journal }) => next !== undefined && journal.pushCase.purpose === "never",
  );
  const judged: Judged = {
    id: "push.schedule",
    checks: retriesOf(timed) - retriesOf(lost) - (polled === undefined ? 0 : retriesOf(flawed)),
    broken:
      polled === undefined
        ? flawed.map((one) => ({
            pushCase: one.journal.pushCase,
            expected: `pushes match one reading of the schedule (${hypothesis?.reading.name ?? "none"} fits best)`,
            actual: flawText(one),
          }))
        : [],
    open: open.length,
  };
  const unclear = openIfLost(noted(judged, FAILING, notWatched), FAILING, lost.length);
  if (polled === undefined) return unclear;
  const why = `${polled.why} (what settles it: ${polled.settle})`;
  const told = noted({ ...unclear, open: flawed.length }, FAILING, (were) => `${were} not judged: ${why}`);
  return { ...told, open: unclear.open + flawed.length };
};
