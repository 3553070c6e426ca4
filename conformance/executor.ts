import { campaignsOf, type Campaigns } from "./campaign/campaigns.ts";
import type { Campaign } from "./campaign/data.ts";
import { campaignMs } from "./campaign/span.ts";
import { judgeCase, createPlaces, type Places } from "./cases.ts";
import { catalogue } from "./contract/catalogue.ts";
import type { RuleResult } from "./contract/record.ts";
import type { Verdict } from "./contract/verdict.ts";
import { duration } from "./contract/duration.ts";
import type { LedgerSession } from "./ledger/depositable.ts";
import { judgeByLedger } from "./ledger/judge.ts";
import type { Need, Rule } from "./rule.ts";
import { createRun, hash32, Interrupted, stopwatch, type Effort, type Run } from "./run.ts";
import { emptyPrepared, type Prepared, type Session } from "./session.ts";
import { pause, type Clock } from "./world/clock.ts";
import { ControlFailed, TransportError } from "./world/exchange.ts";
import { HookError } from "./world/hooks.ts";
import { newScope, type ExchangeRecord } from "./world/journal.ts";
import { ReceiverError } from "./world/receiver.ts";
import type { World } from "./world/world.ts";

export interface ExecutorOptions {
  readonly rules: readonly Rule[];
  readonly effort: Effort;
  readonly seed: number;
  /** Called as each rule settles, in the order in which they do. */
  readonly onResult?: (result: RuleResult) => void;
  /** Replays fast-check from this path in the named part. */
  readonly path?: { readonly part: string | undefined; readonly path: string };
}

/** What judging one rule needs beside. */
interface JudgeOptions extends ExecutorOptions {
  readonly places: Places;
}

/** Cases that are awake at the same time: enough to keep every connection at work. */
const CASES_AT_A_TIME = { near: 24, far: 64 } as const;
/** Cases of one part of a rule that are begun at the same time. */
const CASES_OF_A_PART = { near: 6, far: 24 } as const;

const MOST_BEGINNINGS = 3;

const SHRINK_BUDGET_MS: Record<Effort, number> = { quick: 2_000, standard: 10_000, thorough: 60_000 };

/**
 * Runs rules side by side against one target. Those that sleep do so together on the
 * session's clock; those that write notifications wait until those that only read are done.
 */
export const runRules = async (
  session: Session,
  prepared: Prepared,
  options: ExecutorOptions,
): Promise<readonly RuleResult[]> => {
  const readers = options.rules.filter((rule) => rule.writes !== true && readsNotifications(rule));
  const campaigns = campaignsOf(
    session,
    prepared,
    new Set(options.rules.map(({ requirement }) => requirement)),
    options.seed,
  );
  const places = createPlaces(
    session.resolved.profile.concurrency?.maxCases ?? CASES_AT_A_TIME[distanceOf(prepared)],
  );
  const judgeOne = async (rule: Rule): Promise<RuleResult> => {
    const result = await judgeRule(session, prepared, rule, campaigns, { ...options, places });
    options.onResult?.(result);
    return result;
  };
  const writers = options.rules.filter((rule) => rule.writes === true);
  const running = new Map(
    options.rules.filter((rule) => rule.writes !== true).map((rule) => [rule, judgeOne(rule)] as const),
  );
  const quiet = Promise.all(readers.flatMap((rule) => running.get(rule) ?? []));
  for (const rule of writers.filter(needsPushes))
    running.set(
      rule,
      quiet.then(() => judgeOne(rule)),
    );
  // In accounts that all share, an event of another rule would be taken for one of the campaign's.
  const alone = session.events?.accountsAreFresh === false ? writers.filter(needsPushes) : [];
  const undisturbed = quiet.then(() => Promise.all(alone.flatMap((rule) => running.get(rule) ?? [])));
  for (const rule of writers.filter((one) => !needsPushes(one)))
    running.set(
      rule,
      undisturbed.then(() => judgeOne(rule)),
    );
  return Promise.all(options.rules.map((rule) => running.get(rule) as Promise<RuleResult>));
};

const distanceOf = ({ isFar }: Prepared): "near" | "far" => (isFar === true ? "far" : "near");

const readsNotifications = (rule: Rule): boolean =>
  rule.requirement.startsWith("notifications.") ||
  (rule.needs?.some((need) => need === "notifications" || need === "many-notifications") ?? false);

const needsPushes = (rule: Rule): boolean => rule.needs?.includes("pushes") ?? false;

const judgeRule = async (
  session: Session,
  prepared: Prepared,
  rule: Rule,
  campaigns: Campaigns,
  options: JudgeOptions,
): Promise<RuleResult> => {
  const elapsedMs = stopwatch();
  const kept: ExchangeRecord[] = [];
  const verdict = await settle(session, prepared, rule, campaigns, options, kept);
  return {
    id: rule.requirement,
    level: catalogue[rule.requirement].level,
    group: catalogue[rule.requirement].group,
    verdict: masked(session, verdict),
    durationMs: Math.round(elapsedMs()),
    exchanges: kept,
  };
};

/**
 * Sentences may quote answers; what leaves the executor holds no credential. What the harness itself
 * names stays as it is, even where a service should choose such a word for a secret.
 */
const masked = (session: Session, verdict: Verdict): Verdict =>
  maskStrings(JSON.parse(JSON.stringify(verdict)), session.secrets.mask, "") as Verdict;

const ownWords: ReadonlySet<string> = new Set([
  ".kind",
  ".missing",
  ".due",
  ".breach.part",
  ".breach.reproduction.path",
  ".facts.readings",
]);

const maskStrings = (value: unknown, mask: (text: string) => string, place: string): unknown => {
  if (ownWords.has(place)) return value;
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskStrings(item, mask, place));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, maskStrings(inner, mask, `${place}.${key}`)]),
  );
};

const settle = async (
  session: Session,
  prepared: Prepared,
  rule: Rule,
  campaigns: Campaigns,
  options: JudgeOptions,
  kept: ExchangeRecord[],
): Promise<Verdict> => {
  const exempt = session.resolved.profile.notApplicable?.[rule.requirement];
  if (exempt !== undefined) return { kind: "not-applicable", by: "profile", reason: exempt };
  const lacking = unseenAuthorize(session, rule) ?? lack(session, prepared, rule);
  if (lacking !== undefined && ledgerOf(session, prepared, rule) === undefined) return lacking;
  try {
    if (!needsPushes(rule)) return await judge(session, prepared, rule, options, kept);
    // Whoever waits for the campaign takes no part in the clock: the journey would wait for it in turn.
    const nth = (index: number): Promise<Campaign> =>
      rule.looksLater === true ? campaigns.later(index) : campaigns.nth(index);
    const campaign = await nth(0);
    const verdict = await judge(session, { ...prepared, campaign }, rule, options, kept);
    const isReal = session.clocks.kind === "real";
    const isDoubtful = rule.timesPushes === true && (isReal || !campaign.isAwaited);
    if (!isBreach(verdict) || (isReal && !(isDoubtful && isShort(session)))) return verdict;
    if (options.effort === "quick" && !isDoubtful) return verdict;
    const again = await judge(session, { ...prepared, campaign: await nth(1) }, rule, options, []);
    return isDoubtful && !isBreach(again) ? doubtful(verdict, session) : confirmed(verdict, again);
  } catch (error) {
    return broken(session, error);
  }
};

/**
 * Whether a campaign in real time is soon repeated. Where delays are divided, so is what a busy machine may be late by,
 * and what one campaign shows may be the machine's doing.
 */
const isShort = ({ limits, resolved }: Session): boolean =>
  campaignMs(limits, resolved.profile.tolerances?.latenessMs) <= SHORT_CAMPAIGN_MS;
const SHORT_CAMPAIGN_MS = 120_000;

/** What the profile's hook brings back is a code, and no answer of the service that could be judged. */
const unseenAuthorize = (session: Session, rule: Rule): Verdict | undefined =>
  catalogue[rule.requirement].group === "authorize" && session.resolved.profile.authorize?.code !== undefined
    ? {
        kind: "could-not-run",
        missing: "authorize",
        reason:
          "codes come from the hook authorize.code, so the service's own answer to authorize is not seen; it is where `authorize.headers` or `authorize.query` get past consent",
      }
    : undefined;

type Breached = Extract<Verdict, { readonly kind: "failed" | "warned" }>;

const isBreach = (verdict: Verdict): verdict is Breached =>
  verdict.kind === "failed" || verdict.kind === "warned";

/** A breach with what a second campaign says of it. */
const confirmed = (verdict: Breached, again: Verdict): Verdict => {
  const isDecided = isBreach(again) || again.kind === "passed";
  const replayed = { failures: isBreach(again) ? 1 : 0, attempts: isDecided ? 1 : 0 };
  return {
    ...verdict,
    breach: { ...verdict.breach, reproduction: { ...verdict.breach.reproduction, replayed } },
  };
};

/** What one campaign has shown by moments that rest on real time, and a second one has not. */
const doubtful = ({ breach, facts }: Breached, { clocks }: Session): Verdict => ({
  kind: "inconclusive",
  reason: `what one campaign of pushes showed, a second one did not: ${breach.actual}`,
  settle:
    clocks.kind === "real"
      ? "tolerances.latenessMs in the profile, longer delays (limits.pushDelaysMs), or a machine with less to do"
      : "an advance hook that answers once what it set off is over, and says so with inFlight: 0; or a run in real time",
  cases: 0,
  ...(facts === undefined ? {} : { facts }),
});

/** Judges once, as one of those who take part in the run's clock. */
const judge = async (
  session: Session,
  prepared: Prepared,
  rule: Rule,
  options: JudgeOptions,
  kept: ExchangeRecord[],
): Promise<Verdict> => {
  const clock = session.clocks.join();
  const { codeLifetimeMs, refreshTokenLifetimeMs } = session.limits;
  const shortestLifetimeMs = Math.min(
    codeLifetimeMs,
    refreshTokenLifetimeMs,
    prepared.accessLifetimeMs > 0 ? prepared.accessLifetimeMs : Infinity,
  );
  const run = createRun({
    rule: rule.requirement,
    effort: options.effort,
    seed: hash32(`${options.seed}:${rule.requirement}`),
    signal: session.signal,
    shrinkBudgetMs: SHRINK_BUDGET_MS[options.effort],
    inWorld: (scope, judgeIn, turn) =>
      judgeCase({ places: options.places, clock, shortestLifetimeMs }, (own) =>
        judgeIn(session.world(scope, own, prepared, turn)),
      ),
    ...(session.resolved.clients.length > 1 ? { secondClient: turnsOf(rule) } : {}),
    casesAtATime: CASES_OF_A_PART[distanceOf(prepared)],
    recover: (tries) => recover(session, clock, rule, tries),
    keep: (exchanges) => kept.push(...exchanges),
    ...(options.path === undefined ? {} : { path: options.path }),
  });
  try {
    const world = session.world(newScope(rule.requirement), clock, prepared);
    const later = ledgerOf(session, prepared, rule);
    const verdict =
      later === undefined
        ? await checkAnew(rule, world, run)
        : await judgeByLedger(later, rule.requirement, world, run, rule.ledger ?? []);
    if (session.signal.aborted) return interrupted;
    keepEvidence(verdict, kept);
    return finish(session, rule, verdict);
  } finally {
    clock.leave();
  }
};

/**
 * Whatever is promised of codes and tokens is promised to every client; what is listed may be one client's alone, and is
 * read with the client that the preflight made it for.
 */
const turnsOf = ({ requirement }: Rule): "in turn" | "where asked for" =>
  ["authorize", "code", "exchange", "refresh"].includes(catalogue[requirement].group)
    ? "in turn"
    : "where asked for";

/** What rules ask before their cases is asked by no case, so a lost answer has the rule begin anew. */
const checkAnew = async (rule: Rule, world: World, run: Run): Promise<Verdict> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await rule.check(world, run);
    } catch (error) {
      const isLost = error instanceof TransportError && error.reason === "closed";
      if (!isLost || tries === MOST_BEGINNINGS) throw error;
    }
  }
};

/** Waits a moment after a lost answer, longer each time, and says whether a plain request gets one. */
const recover = async (session: Session, clock: Clock, rule: Rule, tries: number): Promise<boolean> => {
  await pause(session.transport.road.backOffMs(tries));
  const { target } = session.world(newScope(rule.requirement), clock, emptyPrepared);
  try {
    await target.list({});
    return true;
  } catch (error) {
    if (error instanceof TransportError) return false;
    throw error;
  }
};

/** Of the exchanges that the parts of a rule kept, leaves those that prove its verdict. */
const keepEvidence = (verdict: Verdict, kept: ExchangeRecord[]): void => {
  const evidence = new Set("breach" in verdict ? verdict.breach.evidence : []);
  const proving = new Map(kept.filter(({ n }) => evidence.has(n)).map((exchange) => [exchange.n, exchange]));
  kept.splice(0, kept.length, ...proving.values());
};

/** What the rule needs and this run has not, as its verdict. */
const lack = (session: Session, prepared: Prepared, rule: Rule): Verdict | undefined => {
  const most = prepared.notifications.accounts[0]?.ids.length ?? 0;
  const howToGetSome =
    session.events === undefined
      ? "add `hooks.events.trigger` to the profile"
      : "what `hooks.events.trigger` created was not listed within tolerances.visibilityMs";
  const absent: Record<Need, string | undefined> = {
    "second-client":
      session.resolved.clients.length > 1
        ? undefined
        : "it compares two OAuth clients; add a second one to `clients` in the profile",
    events:
      session.events === undefined
        ? "it needs notifications of its own making; add `hooks.events.trigger` to the profile"
        : undefined,
    notifications: most > 0 ? undefined : `the service lists no notification; ${howToGetSome}`,
    "many-notifications":
      most > session.limits.defaultLimit
        ? undefined
        : `no account has more than ${session.limits.defaultLimit} notifications (the most is ${most}); ${howToGetSome}`,
    pushes: undefined,
  };
  for (const need of rule.needs ?? []) {
    const reason = absent[need];
    if (reason !== undefined) return { kind: "could-not-run", missing: need, reason };
    const without = need === "pushes" ? lackForPushes(session, prepared) : undefined;
    if (without !== undefined) return { kind: "could-not-run", ...without };
  }
  const { limits, tolerances } = session;
  const waitMs = rule.waitsMs?.({ limits, tolerances, accessLifetimeMs: prepared.accessLifetimeMs }) ?? 0;
  if (session.clocks.canWait(waitMs)) return undefined;
  return {
    kind: "could-not-run",
    missing: "clock.advance",
    reason: `it waits for ${duration(waitMs)}, longer than this run may; add \`hooks.clock.advance\` to the profile, or raise --max-wait${rule.ledger === undefined ? "" : ", or keep a ledger (--ledger)"}`,
  };
};

/** The ledger, where the rule waits for longer than this run may and knows what to keep for a later one. */
const ledgerOf = (session: Session, prepared: Prepared, rule: Rule): LedgerSession | undefined => {
  const lacking = lack(session, prepared, rule);
  return lacking?.kind === "could-not-run" && lacking.missing === "clock.advance" && rule.ledger !== undefined
    ? session.ledger
    : undefined;
};

/** What a campaign of pushes cannot do without. */
const lackForPushes = (
  session: Session,
  prepared: Prepared,
): { readonly missing: string; readonly reason: string } | undefined => {
  if (session.events === undefined)
    return {
      missing: "events",
      reason: "it watches the pushes of events of its own making; add `hooks.events.trigger` to the profile",
    };
  if (session.registerCallback === undefined)
    return {
      missing: "callback",
      reason:
        "the service has to be told where to push to; add `hooks.callback.register` to the profile (with {{url}}, and {{ca}} for the certificate's authority)",
    };
  if (session.receiver === undefined)
    return {
      missing: "receiver",
      reason: "no receiver runs; leave `receiver` out of the profile to have one started",
    };
  return prepared.unreachableReceiver === undefined
    ? undefined
    : { missing: "receiver", reason: prepared.unreachableReceiver };
};

/** Advisory breaches warn; what judged nothing did not pass; a pinned reading that the evidence rules out fails. */
const finish = (session: Session, rule: Rule, verdict: Verdict): Verdict => {
  if (verdict.kind === "passed" && !(verdict.cases > 0))
    return {
      ...verdict,
      kind: "inconclusive",
      reason: "no case was judged",
      settle: "a run in which at least one case is judged",
      cases: 0,
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
    ...(verdict.facts === undefined ? {} : { facts: verdict.facts }),
    breach: {
      expected: `the reading "${pinned}", which the profile pins`,
      actual: `the evidence allows ${Array.isArray(readings) ? readings.join(", ") || "none" : "no named reading"}`,
      evidence: [],
      reproduction: { seed: 0, replayed: { failures: 1, attempts: 1 } },
    },
  };
};

const interrupted: Verdict = {
  kind: "inconclusive",
  reason: "interrupted",
  settle: "a run that is left to finish",
  cases: 0,
};

const broken = (session: Session, error: unknown): Verdict => {
  if (error instanceof Interrupted || session.signal.aborted) return interrupted;
  if (error instanceof ControlFailed || error instanceof TransportError)
    return {
      kind: "inconclusive",
      reason: error.message,
      settle: "a run in which every control succeeds",
      cases: 0,
    };
  if (error instanceof ReceiverError)
    return { kind: "could-not-run", missing: "receiver", reason: error.message };
  if (error instanceof HookError) return { kind: "could-not-run", missing: error.key, reason: error.message };
  if (error instanceof Error)
    return {
      kind: "harness-error",
      message: error.message,
      ...(error.stack === undefined ? {} : { stack: error.stack }),
    };
  return { kind: "harness-error", message: String(error) };
};
