import { counted } from "../../../conformance/contract/text.ts";
import { lackingByLoss } from "../../../conformance/judging/pushes/lost-connections.ts";
import type { Part } from "../../../conformance/judging/pushes/finding.ts";
import type { PushCase, PushTrace } from "../../../conformance/judging/pushes/trace.ts";
import { fittedTo, tardyReadings, type Fitted } from "../../../conformance/judging/pushes/fitted.ts";
import { readingsOf } from "../../../conformance/judging/pushes/readings.ts";
import { asPolled } from "../../../conformance/judging/pushes/schedule.ts";

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
  judge: (pushCase: PushCase) => Part | "undecided",
): Judged => {
  const parts = pushCases.map((pushCase) => ({ pushCase, part: judge(pushCase) }));
  const told = parts.filter(({ part }) => part !== "undecided");
  return {
    id,
    checks: told.length,
    broken: told.flatMap(({ pushCase, part }) => (typeof part === "string" ? [] : [{ pushCase, ...part }])),
    open: parts.length - told.length,
  };
};

/** Adds how many are open; `what` follows the noun, such as "event", whose plural has an s. */
export const noted = (judged: Judged, noun: string, what: (were: string) => string): Judged => {
  if (judged.open === 0) return judged;
  const open = `${counted(judged.open, noun)} ${what(judged.open === 1 ? "was" : "were")}`;
  return { ...judged, note: judged.note === undefined ? open : `${judged.note}; ${open}` };
};

/**
 * Leaves a notification open if what it lacks may have been on a connection that broke before the receiver could read a
 * push. A sender that gives up in the handshake has made an attempt that only it knows of.
 */
export const unlessLost = (
  judged: Judged,
  noun: string,
  trace: PushTrace,
  checksOf: (pushCase: PushCase) => number = () => 1,
): Judged => {
  const cases = judged.broken.map(({ pushCase }) => pushCase);
  const lost = lackingByLoss(cases, trace);
  const told = noted(
    { ...judged, open: lost.size },
    noun,
    (were) =>
      `${were} not judged: a connection broke before the receiver could read a push, when one was due`,
  );
  return {
    ...told,
    checks: judged.checks - [...lost].reduce((sum, one) => sum + checksOf(one), 0),
    broken: judged.broken.filter(({ pushCase }) => !lost.has(pushCase)),
    open: judged.open + lost.size,
  };
};

export const failing = ({ pushCases }: PushTrace): readonly PushCase[] =>
  pushCases.filter(({ purpose }) => purpose === "never" || purpose === "late");

export const FAILING = "failing notification";
export const notWatched = (were: string): string =>
  `${were} not watched to the end of ${were === "was" ? "its" : "their"} retries`;

const contradictionsOf = ({ fits }: Fitted) =>
  fits.flatMap(({ pushCase, fit }) =>
    fit.kind === "against" || fit.kind === "tardy" ? [{ pushCase, why: fit.why }] : [],
  );

const retriesOf = (pushCases: readonly PushCase[]): number =>
  pushCases.reduce((sum, { pushes }) => sum + Math.max(0, pushes.length - 1), 0);

/**
 * Against the reading with the fewest contradictions. Notifications that are late in the way of a sender that polls are
 * left open, as in the gate.
 */
export const scheduled = (trace: PushTrace): Judged => {
  const fitted = readingsOf(trace.limits).map((reading) => fittedTo(reading, trace));
  const [tardy] = tardyReadings(fitted, trace).filter(({ reading }) => reading.keepsCap);
  const [nearest] = fitted
    .filter(({ reading }) => reading.keepsCap)
    .toSorted((a, b) => contradictionsOf(a).length - contradictionsOf(b).length);
  const best = tardy ?? nearest;
  const against = best === undefined ? [] : contradictionsOf(best);
  const late = tardy === undefined ? [] : against;
  const expected = `pushes match one reading of the schedule (${best?.reading.name} fits best)`;
  const judged: Judged = {
    id: "push.schedule",
    checks: retriesOf(failing(trace)) - retriesOf(late.map(({ pushCase }) => pushCase)),
    broken:
      tardy === undefined ? against.map(({ pushCase, why }) => ({ pushCase, expected, actual: why })) : [],
    open: best?.fits.filter(({ fit }) => fit.kind === "vague").length ?? 0,
  };
  const unclear = noted(
    judged,
    FAILING,
    (were) => `${notWatched(were)}, or the times of the pushes are too imprecise`,
  );
  if (tardy === undefined) return unlessLost(unclear, FAILING, trace, (one) => retriesOf([one]));
  const why = `${asPolled(tardy)} (\`tolerances.latenessMs\` in the profile says how late)`;
  const told = noted(
    { ...unclear, open: late.length },
    FAILING,
    (were) => `${were} late and not judged: ${why}`,
  );
  return { ...told, open: unclear.open + late.length };
};
