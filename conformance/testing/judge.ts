import { defaultClients, type FakeBehaviour } from "../../fake-server/index.ts";
import { startReceiver, type ReceiverOptions } from "../../fake-server/receiver/index.ts";
import { given } from "../contract/given.ts";
import type { Profile } from "../contract/profile.ts";
import type { RuleResult } from "../contract/record.ts";
import type { Verdict } from "../contract/verdict.ts";
import { watchesPushes } from "../engine/needs.ts";
import { runRules, type ExecutorOptions } from "../engine/executor.ts";
import { preflight } from "../session/preflight.ts";
import type { Rule } from "../checks/rule.ts";
import type { Effort } from "../checks/effort.ts";
import { openSession, type Session } from "../session/session.ts";
import type { Prepared } from "../world/world.ts";
import { runOptions, startFake, type ProfileChange } from "./fake.ts";

/** A schedule of fewer pushes, for what does not depend on their number: a push run stops the clock less often. */
export const briefSchedule = { pushDelaysMs: [30_000, 60_000], maxPushes: 3 };

export interface BenchOptions {
  /** Name of a behaviour of the fake, or one made for the test; default `sound`. */
  readonly behaviour?: string | FakeBehaviour;
  readonly effort?: Effort;
  readonly seed?: number;
  /** Changes the profile with which the fake is judged, for example to leave out a hook or a client. */
  readonly profile?: ProfileChange;
  readonly maxWaitMs?: number;
  readonly signal?: AbortSignal;
  readonly onResult?: ExecutorOptions["onResult"];
  /** What the rules find prepared, instead of what a preflight makes. */
  readonly prepared?: Prepared;
  /** Whether one breach settles a rule, as in a detection. */
  readonly stopAtBreach?: boolean;
  /** Limits of the fake and of its profile that differ from the document's. */
  readonly limits?: NonNullable<Profile["limits"]>;
  /** What differs from the fake's first client. */
  readonly client?: Partial<(typeof defaultClients)[number]>;
  /** How the receiver of pushes is started. */
  readonly receiver?: ReceiverOptions;
}

/** Judges one rule against its own fake and returns the verdict. For tests. */
export const judge = async (rule: Rule, options: BenchOptions = {}): Promise<Verdict> => {
  const [result] = await judgeAll([rule], options);
  if (result === undefined) throw new Error("no result");
  return result.verdict;
};

/** Judges several rules concurrently against one fake, as a run does. For tests. */
export const judgeAll = async (
  rules: readonly Rule[],
  options: BenchOptions = {},
): Promise<readonly RuleResult[]> => {
  await using ending = new AsyncDisposableStack();
  // Handshakes cost a third of a push run.
  const scheme = rules.some(({ requirement }) => requirement === "push.certificate-check") ? "https" : "http";
  const receiver = rules.some(watchesPushes)
    ? await startReceiver({ scheme, ...options.receiver })
    : undefined;
  ending.defer(async () => receiver?.stop());
  const { behaviour = "sound", client, limits, profile = {}, maxWaitMs = 1_000 } = options;
  const clients = defaultClients.map((usual, at) => (at === 0 ? { ...usual, ...client } : usual));
  const fake = await startFake({ behaviour, clients, limits: limits ?? {} });
  ending.defer(fake.stop);
  const resolved = await fake.resolved((own) => {
    const limited = { ...own, ...given({ limits }) };
    return { ...limited, ...(typeof profile === "function" ? profile(limited) : profile) };
  });
  const run = { ...runOptions(), ...given({ signal: options.signal }) };
  const session = openSession(resolved, { ...run, maxWaitMs, receiver });
  ending.defer(() => session.close());
  return await runRules(session, options.prepared ?? (await prepare(session, rules)), {
    rules,
    effort: options.effort ?? "quick",
    seed: options.seed ?? 1,
    stopAtBreach: options.stopAtBreach ?? false,
    ...given({ onResult: options.onResult }),
  });
};

const prepare = async (session: Session, rules: readonly Rule[]): Promise<Prepared> => {
  const notifications = rules.some(({ needs = [] }) => needs.some((need) => need.endsWith("notifications")));
  const { prepared, checks } = await preflight(session, {
    notifications,
    pushes: rules.some(watchesPushes),
  });
  const fatal = checks.find((check) => check.fatal !== undefined);
  if (fatal !== undefined) throw new Error(fatal.message);
  return prepared;
};
