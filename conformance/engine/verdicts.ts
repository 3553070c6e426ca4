import type { ExchangeRecord } from "../contract/record.ts";
import type { Rule } from "../checks/rule.ts";
import { Interrupted, EVERY_CONTROL } from "../checks/context.ts";
import { duration } from "../contract/duration.ts";
import { given } from "../contract/given.ts";
import { catalogue } from "../contract/catalogue.ts";
import { IN_FLIGHT } from "../judging/pushes/cases.ts";
import { tolerances } from "../judging/tolerances.ts";
import type { PushRun } from "../judging/pushes/trace.ts";
import { unfinishedOf } from "../judging/pushes/unfinished.ts";
import { counted } from "../contract/text.ts";
import { isNeeded } from "../pushes/push-case.ts";
import { isBreach, type Breached, type Verdict } from "../contract/verdict.ts";
import type { Session } from "../session/session.ts";
import { ControlFailed, TransportError, whatAnswers } from "../world/exchange.ts";
import { HookError } from "../world/hooks/hooks.ts";
import { ReceiverError } from "../world/receiver.ts";

/**
 * Advisory breaches become warnings; a rule that judged nothing has not passed; a pinned reading that the evidence
 * rules out fails.
 */
export const finished = (session: Session, rule: Rule, verdict: Verdict): Verdict => {
  if (verdict.kind === "passed" && !(verdict.cases > 0))
    return {
      ...verdict,
      ...undecided("no case was judged", "another --seed, or a higher --effort"),
    };
  const { lockouts } = session.transport.address.pacer.report();
  if (verdict.kind === "inconclusive" && lockouts > 0 && verdict.settle !== whatAnswers.locked)
    return {
      ...verdict,
      reason: `the service locks clients out after refused requests, so the run spaced them, too far apart for this rule: ${verdict.reason}`,
      settle: "a service that does not lock out the clients of the profile",
    };
  if (verdict.kind === "failed" && catalogue[rule.requirement].level === "advisory")
    return { ...verdict, kind: "warned" };
  const pinned = session.resolved.profile.pins?.readings?.[rule.requirement];
  if (verdict.kind !== "passed" || pinned === undefined) return verdict;
  const readings = verdict.facts?.["readings"];
  if (Array.isArray(readings) && readings.includes(pinned)) return verdict;
  return {
    kind: "failed",
    cases: verdict.cases,
    ...given({ facts: verdict.facts }),
    breach: {
      expected: `the reading "${pinned}", which the profile pins`,
      actual: `the evidence allows ${Array.isArray(readings) ? readings.join(", ") || "none" : "no named reading"}`,
      evidence: [],
      reproduction: { seed: 0, replayed: { failures: 1, attempts: 1 } },
    },
  };
};

/**
 * The verdict of two push runs. `settle` is set if the machine may be the cause of what the first one showed: then a
 * breach counts only if the second shows one too. What the first leaves open, as lost connections may have carried what
 * is missing, the second decides, as a further gate would: a sender that loses pushes loses them there too.
 */
export const ofTwoPushRuns = (first: Verdict, again: Verdict, settle: string | undefined): Verdict => {
  if (first.kind === "inconclusive" && again.kind === "passed")
    return { ...again, facts: { ...again.facts, leftOpenByTheFirstPushRun: first.reason } };
  if (!isBreach(first)) return isBreach(again) ? again : first;
  return settle !== undefined && !isBreach(again) ? doubtful(first, settle) : confirmed(first, again);
};

/** A breach in one push run, with a second run's result as its replay. */
const confirmed = (verdict: Breached, again: Verdict): Verdict => {
  const isDecided = isBreach(again) || again.kind === "passed";
  const replayed = { failures: isBreach(again) ? 1 : 0, attempts: isDecided ? 1 : 0 };
  return {
    ...verdict,
    breach: { ...verdict.breach, reproduction: { ...verdict.breach.reproduction, replayed } },
  };
};

/** A breach that may be due to the machine, and that a second push run did not show. */
const doubtful = ({ breach, facts }: Breached, settle: string): Verdict => ({
  ...undecided(`one push run showed a breach, a second one did not: ${breach.actual}`, settle),
  ...given({ facts }),
});

/**
 * What a breach says if something else sets the target's clock too: what was issued may have expired of that, or live
 * longer. By as much as the clocks of a service's nodes may differ, a step back matters only to what judges seconds
 * (`isTimed`): a hook that asks the nodes in turn shows one all the time, and would excuse any breach.
 */
export const unlessMovedByOthers = async (
  { clocks }: Session,
  verdict: Verdict,
  isTimed: boolean,
): Promise<Verdict> => {
  if (!isBreach(verdict)) return verdict;
  // A service that this breach ended tells no more time.
  const jump = await clocks.jumped?.().catch(() => undefined);
  if (jump === undefined) return verdict;
  const mayBeOfNodes = jump.wentMs < 0 && jump.wentMs >= -tolerances.clocksApart.default;
  if (mayBeOfNodes && !isTimed) return verdict;
  const { went, by, settle } =
    jump.wentMs < 0
      ? {
          went: "back",
          by: "something set it back: NTP, a restart, another run; or machines tell the time whose clocks differ",
          settle:
            "a run during which nothing sets the target's clock back, on machines whose clocks agree within a second",
        }
      : {
          went: "on",
          by: "somebody else moves it too, perhaps another run",
          settle: "a run that alone moves the target's clock",
        };
  return {
    ...undecided(
      `the target's clock went ${went} by ${duration(Math.abs(jump.wentMs))} within ${duration(jump.tookMs)} without this run, so ${by}; that may be the cause of what was seen: ${verdict.breach.actual}`,
      settle,
    ),
    ...given({ facts: verdict.facts }),
  };
};

/** What would settle a breach that depends on moments in real time. */
export const settlesTimes = (clock: Session["clocks"]["kind"]): string =>
  clock === "real" ? "tolerances.latenessMs in the profile, which sets how late a push may be" : IN_FLIGHT;

const undecided = (reason: string, settle: string) =>
  ({ kind: "inconclusive", reason, settle, cases: 0 }) as const;

export const interrupted: Verdict = undecided("interrupted", "a run that is not interrupted");

export const verdictOf = (error: unknown, { signal }: Session): Verdict => {
  if (error instanceof Interrupted || signal.aborted) return interrupted;
  if (error instanceof ControlFailed) return undecided(error.message, error.settle ?? EVERY_CONTROL);
  if (error instanceof TransportError) return undecided(error.message, whatAnswers[error.reason]);
  if (error instanceof ReceiverError)
    return { kind: "could-not-run", missing: "receiver", reason: error.message };
  if (error instanceof HookError) return { kind: "could-not-run", missing: error.key, reason: error.message };
  if (error instanceof Error)
    return { kind: "harness-error", message: error.message, ...given({ stack: error.stack }) };
  return { kind: "harness-error", message: String(error) };
};

/**
 * What a push run shows of a rule if watching ended before its time: a breach stands, and anything else only if all
 * notifications that the rule needs were over.
 */
export const unlessUnfinished = (verdict: Verdict, rule: string, pushRun: PushRun): Verdict => {
  if (pushRun.cut === undefined || isBreach(verdict) || verdict.kind === "not-applicable") return verdict;
  const only = new Set([rule]);
  const [first, ...others] = unfinishedOf(pushRun, (plan) => isNeeded(plan, only));
  // What it asked the target for has got no answer.
  const isCutOff = pushRun.cut.by === "interruption" && verdict.kind === "inconclusive";
  if (first === undefined) return isCutOff ? interrupted : verdict;
  const { why = "the run was interrupted", settle = "a run that is not interrupted" } = pushRun.cut;
  const more = others.length === 0 ? "" : ` and ${counted(others.length, "more notification")}`;
  return {
    ...undecided(`${why} before all pushes of "${first}"${more} were over`, settle),
    ...("facts" in verdict ? given({ facts: verdict.facts }) : {}),
  };
};

/** Keeps only the exchanges that prove a rule's verdict. */
export const keepProof = (verdict: Verdict, kept: ExchangeRecord[]): void => {
  const evidence = new Set("breach" in verdict ? verdict.breach.evidence : []);
  const proof = new Map(kept.filter(({ n }) => evidence.has(n)).map((one) => [one.n, one]));
  kept.splice(0, kept.length, ...proof.values());
};

/** Names given by the harness, which stay even if a service uses such a word as a secret. */
const ownWords: ReadonlySet<string> = new Set([
  ".kind",
  ".missing",
  ".due",
  ".breach.part",
  ".breach.reproduction.path",
  ".facts.readings",
]);

/** Masks a verdict, because sentences may quote answers: it leaves the engine without any credential. */
export const masked = (verdict: Verdict, mask: (text: string) => string): Verdict =>
  maskStrings(JSON.parse(JSON.stringify(verdict)), mask, "") as Verdict;

const maskStrings = (value: unknown, mask: (text: string) => string, place: string): unknown => {
  if (ownWords.has(place)) return value;
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskStrings(item, mask, place));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, maskStrings(inner, mask, `${place}.${key}`)]),
  );
};
