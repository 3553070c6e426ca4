import type { Check } from "../contract/check.ts";
import { leftBehindLine, type LeftBehind } from "../contract/left-behind.ts";
import { drifted, exitCodeOf, outcomeOf, applyWaivers, type AppliedWaiver } from "../contract/outcome.ts";
import type { Outcome, RuleResult } from "../contract/record.ts";
import { canonicalJson } from "../contract/verdict.ts";
import { runRules, type ExecutorOptions } from "./executor.ts";
import { preflight } from "../session/preflight.ts";
import { comparesCreated, readsPrepared, watchesPushes } from "./needs.ts";
import { OTHERS_NOTE } from "../world/listing.ts";
import { ConfigurationError, UnreachableError } from "../contract/problem.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import type { Rule } from "../checks/rule.ts";
import { openSession, replacedLimits, type Session, type SessionOptions } from "../session/session.ts";
import { parseJson } from "../contract/json.ts";
import { duration } from "../contract/duration.ts";
import { repeatedIn } from "../checks/context.ts";
import { keyOfHook } from "../world/hooks/hooks.ts";
import type { HookReport } from "../world/hooks/hook-caller.ts";
import type { ConnectionReport } from "../world/http/connection-health.ts";
import type { DefenceReport } from "../world/http/pacer.ts";
import { counted } from "../contract/text.ts";

export interface ConformOptions
  extends SessionOptions, Pick<ExecutorOptions, "effort" | "seed" | "path" | "stopAtBreach"> {
  readonly resolved: ResolvedProfile;
  readonly rules: readonly Rule[];
  readonly seed: number;
  readonly strict: boolean;
  /** The day as YYYY-MM-DD (UTC), which decides if waivers have expired; without it waivers are ignored. */
  readonly today?: string;
  readonly onResult?: (result: RuleResult) => void;
  /** Told in real time how long pushes are watched, and how long they would have to be, in milliseconds. */
  readonly onWatch?: ExecutorOptions["onWatch"];
  /** Gets the session's clock when rules begin to run, for progress lines. */
  readonly onRunning?: (session: Pick<Session, "clocks" | "transport">) => void;
}

export interface ConformResult {
  readonly outcome: Outcome;
  readonly exitCode: number;
  readonly results: readonly RuleResult[];
  readonly checks: readonly Check[];
  /** What a reader should know besides the verdicts: throttling, limits that differ from the document's, drift. */
  readonly notes: readonly string[];
  /** The profile's waivers, with the state of each. */
  readonly waivers: readonly AppliedWaiver[];
  readonly clock: "virtual" | "real";
  /** What remains on the target. */
  readonly leftBehind: LeftBehind;
}

/**
 * The whole gate: preflight, rules, outcome. Throws ConfigurationError and UnreachableError if the preflight finds that
 * a run makes no sense.
 */
export const conform = async (options: ConformOptions): Promise<ConformResult> => {
  const session = openSession(options.resolved, options);
  try {
    const result = await conformIn(session, options).catch(async (error: unknown) => {
      await session.cleanUp();
      throw error;
    });
    const leftBehind = await session.cleanUp();
    return { ...result, leftBehind };
  } finally {
    await session.close();
  }
};

const conformIn = async (
  session: Session,
  options: ConformOptions,
): Promise<Omit<ConformResult, "leftBehind">> => {
  const begun = await preflight(session, {
    notifications:
      options.rules.some(readsPrepared) ||
      (session.events?.mayTellOthers === true && options.rules.some(comparesCreated)),
    pushes: options.rules.some(watchesPushes),
  }).catch((error: unknown) => {
    // An interruption ends what the preflight waits for.
    if (options.signal.aborted) return undefined;
    throw error;
  });
  // The checks of an interrupted preflight failed for lack of connections and say nothing about the target.
  if (begun === undefined || options.signal.aborted)
    return resultOf(session, {
      outcome: "interrupted",
      checks: begun?.checks ?? [],
      results: [],
      waivers: [],
    });
  const { checks, prepared } = begun;
  refuse(checks);
  options.onRunning?.(session);
  const results = await runRules(session, prepared, options);
  const pinned = pinnedOf(options.resolved);
  const { today, strict } = options;
  const known = options.resolved.profile.waivers ?? [];
  const waivers = today === undefined ? [] : applyWaivers(known, results, today);
  const outcome = options.signal.aborted ? "interrupted" : outcomeOf(results, { strict, pinned, waivers });
  return resultOf(session, { outcome, checks, results, waivers });
};

const resultOf = (
  session: Session,
  found: Pick<ConformResult, "outcome" | "checks" | "results" | "waivers">,
): Omit<ConformResult, "leftBehind"> => ({
  ...found,
  exitCode: exitCodeOf(found.outcome),
  notes: notesOf(session, found.results),
  clock: session.clocks.kind,
});

const refuse = (checks: readonly Check[]): void => {
  const fatal = checks.filter((check) => check.fatal !== undefined);
  const sentences = fatal.map(
    ({ check, message, remedy }) => `${check}: ${message}${remedy === undefined ? "" : `; ${remedy}`}`,
  );
  if (fatal.some((check) => check.fatal === "unreachable")) throw new UnreachableError(sentences.join("\n"));
  if (fatal.length > 0) throw new ConfigurationError(sentences);
};

/** The profile's pinned fingerprints as canonical JSON, by requirement id. */
export const pinnedOf = (resolved: ResolvedProfile): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(resolved.profile.pins?.observations ?? {}).map(([id, value]) => [
      id,
      typeof value === "string" && parseJson(value) !== undefined ? value : canonicalJson(value),
    ]),
  );

const notesOf = (session: Session, results: readonly RuleResult[]): readonly string[] => {
  const replaced = replacedLimits(session.resolved);
  return [
    ...(replaced.length > 0 ? [`limits replaced by the profile: ${replaced.join(", ")}`] : []),
    ...defenceNotes(session.transport.address.pacer.report()),
    ...connectionNotes(session.transport.address.health.report(), results),
    ...hookNotes(session.hookReport()),
    ...(session.events?.ignoresIds() === true ? [OTHERS_NOTE] : []),
    ...drifted(results, pinnedOf(session.resolved)).map((id) => `${id} differs from what the profile pins`),
  ];
};

/** The preflight alone, with notifications: what `doctor` shows. */
export const examine = async (
  resolved: ResolvedProfile,
  options: SessionOptions,
): Promise<readonly Check[]> => {
  const session = openSession(resolved, options);
  try {
    const looking = preflight(session, { notifications: true, pushes: true });
    const left = await looking.then(session.cleanUp, session.cleanUp);
    const { checks } = await looking;
    return resolved.sources.length === 0 ? checks : [...checks, ...leftBehindChecks(left)];
  } finally {
    await session.close();
  }
};

/** What the examination itself has left on the target, and whether the clean-up hooks worked. */
const leftBehindChecks = (left: LeftBehind): readonly Check[] => {
  const text = leftBehindLine(left);
  if (text === undefined) return [];
  const check = "left behind";
  const message = `this check left on the target: ${text}`;
  const problems = [left.callback?.restore, left.cleanup].flatMap((one) =>
    one?.ok === false ? [one.problem ?? "a hook failed"] : [],
  );
  if (problems.length > 0)
    return [
      {
        check,
        ok: false,
        message: [message, ...problems].join("; "),
        remedy: "call the hook by hand and compare",
      },
    ];
  const got = left.cleanup === undefined ? "" : "; hooks.cleanup got the list";
  return [{ check, ok: true, message: `${message}${got}` }];
};

/** How the service defends itself against too many requests, and what the run did about it. */
export const defenceNotes = (report: DefenceReport): readonly string[] => {
  const { perSecond, turnedAwayWith, lockouts, longestLockMs, refusedPerMinute, ended } = report;
  const statuses = turnedAwayWith.join(" and ");
  return [
    perSecond !== undefined &&
      `a rate limiter turned requests away with ${statuses}; the run slowed down to ${Math.floor(perSecond)} requests per second`,
    lockouts > 0 &&
      `the service locked clients out after refused requests ${counted(lockouts, "time")}, for up to ${duration(longestLockMs)}; the run waited, and let at most ${refusedPerMinute ?? 0} requests per minute be refused`,
    ended !== undefined && `the run stopped asking: ${ended}`,
  ].filter((note) => note !== false);
};

/** What a reader should know about the connection to the target; empty if there were no problems. */
const connectionNotes = (report: ConnectionReport, results: readonly RuleResult[]): readonly string[] => {
  const repeated = results.reduce((sum, { verdict }) => sum + repeatedIn(verdict), 0);
  const { throttled, longestThrottleMs, lost, hidden, sentAgain, outages, longestOutageMs, stayedAway } =
    report;
  const resent =
    sentAgain === 0
      ? "none was resent, because that could have changed something"
      : `${sentAgain} of them were resent, because that was harmless`;
  return [
    throttled > 0 &&
      `${counted(throttled, "answer")} asked to retry later, after up to ${duration(longestThrottleMs)}; each time the run waited and sent the request again`,
    lost > 0 && `${counted(lost, "request")} got no complete answer; ${resent}`,
    hidden > 0 &&
      `${counted(hidden, "request")} got 502, 503, 504 or a page with 403, perhaps from a gateway; those that could have changed something were not resent`,
    repeated > 0 &&
      `${counted(repeated, "time")} a case was played again, because an answer was missing or clients were locked out`,
    outages > 0 && `the target's address ${refused(outages, longestOutageMs)}`,
    stayedAway && "the target went down and did not come back in time",
  ].filter((note) => note !== false);
};

/** Hooks that take less time, absolute or relative to the run, are not mentioned. */
const NOTICED_MS = 5_000;
const NOTICED_SHARE = 1 / 3;

/** The same for the hooks, which may run elsewhere. */
export const hookNotes = ({ hooks, outages, elapsedMs }: HookReport): readonly string[] => [
  ...hooks
    // Calls of other hooks overlap, so the sum of their times means nothing.
    .filter(({ key }) => key === keyOfHook("clock.advance"))
    .filter(({ totalMs }) => totalMs >= NOTICED_MS && totalMs >= elapsedMs * NOTICED_SHARE)
    .map(
      ({ key, calls, totalMs, longestMs }) =>
        `${key} takes much of the time: ${counted(calls, "call")} took ${duration(totalMs)} of ${duration(elapsedMs)}, the longest ${duration(longestMs)}`,
    ),
  ...hooks
    .filter(({ lost, throttled, madeAgain }) => lost + throttled + madeAgain > 0)
    .map(({ key, lost, throttled, madeAgain }) => {
      const what = [
        ...(lost > 0 ? [`${counted(lost, "call")} got no complete answer`] : []),
        ...(throttled > 0
          ? [`${counted(throttled, "call")} ${throttled === 1 ? "was" : "were"} asked to retry later`]
          : []),
      ];
      return `${key}: ${what.join(", ") || "its gateway answered while the service was down"}; calls repeated, because that is harmless: ${madeAgain}`;
    }),
  ...outages.map(
    ({ host, outages: count, longestOutageMs, stayedAway }) =>
      `the hooks' address ${host} ${refused(count, longestOutageMs)}${stayedAway ? "; it did not come back in time" : ""}`,
  ),
];

const refused = (outages: number, longestMs: number): string =>
  `refused connections ${counted(outages, "time")}${longestMs > 0 ? `, for up to ${duration(longestMs)}, and the run waited` : ""}`;
