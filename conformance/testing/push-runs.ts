import type { PushRun, ReceiverOutage, SeenPush, PushCase, PushCasePlan } from "../judging/pushes/trace.ts";
import type { TimeInterval } from "../judging/interval.ts";
import { instantsOf, readingsOf, type ReadingName } from "../judging/pushes/readings.ts";
import { warmUps, batchesOf } from "../pushes/push-cases.ts";
import { silenceAfterMs } from "../pushes/span.ts";
import { documentLimits } from "../contract/limits.ts";
import type { PushAction } from "../contract/push.ts";
import { madePush, notificationBody } from "./made.ts";

export const moment = (ms: number): TimeInterval => ({ earliestMs: ms, latestMs: ms });

const outcomes = { answer: "sent", hang: "abandoned", close: "closed", reset: "reset" } as const;

/** A push at a moment known to within `widthMs`, answered by this action at once. */
export const pushAt = (
  atMs: number,
  action: PushAction,
  more: {
    readonly attempt?: number;
    readonly widthMs?: number;
    readonly line?: Partial<SeenPush["line"]>;
  } = {},
): SeenPush => {
  const at = { earliestMs: atMs - (more.widthMs ?? 0), latestMs: atMs };
  const status = action.kind === "answer" ? (action.status ?? 200) : undefined;
  return {
    at,
    ended: at,
    action,
    line: {
      n: atMs + 1,
      epoch: "one",
      ...madePush(atMs, {
        attempt: more.attempt ?? 1,
        action: action.kind,
        outcome: outcomes[action.kind],
        ...(status === undefined ? {} : { status }),
        ...more.line,
      }),
    },
  };
};

const idOf = (name: string): string =>
  `00000000-0000-4000-8000-${Buffer.from(name).toString("hex").slice(-12).padStart(12, "0")}`;

/** How a simulated sender treats one notification: when its pushes come after the event, and what ends them. */
export interface Sender {
  /** When a never-acknowledged notification is pushed, in milliseconds after its event. */
  readonly instantsMs: (plan: PushCasePlan) => readonly number[];
  /** Whether the answer to a push ends the pushes; by default an answer with status 200 does. */
  readonly isDone?: (action: PushAction, index: number) => boolean;
  /** Uncertainty of moments, in milliseconds. */
  readonly widthMs?: number;
}

const acknowledges = (action: PushAction): boolean =>
  action.kind === "answer" && (action.status ?? 200) === 200;

export const senderOf = (name: ReadingName): Sender => ({
  instantsMs: () => {
    const reading = readingsOf(documentLimits).find((one) => one.name === name);
    return reading === undefined ? [] : instantsOf(reading);
  },
});

/** An outage between these lines of the journal. */
export const outageOf = (kind: ReceiverOutage["kind"], after: number, last: number): ReceiverOutage => {
  const mark = (line: number) => ({ epoch: "one", last: line, lastConnection: line, nowMs: -Infinity });
  return { kind, from: mark(after), until: mark(last) };
};

/** A push run that saw nothing. */
export const emptyPushRun: PushRun = {
  clock: "virtual",
  limits: { pushDelaysMs: documentLimits.pushDelaysMs, maxPushes: documentLimits.maxPushes },
  latenessMs: 10_000,
  earlyGuardMs: 0,
  acknowledgedStatus: 200,
  callbackUrl: "https://receiver.example:9443/service/webhook",
  pushCases: [],
  others: [],
  outages: [],
  lost: [],
  watchedFromMs: 0,
  isAwaited: true,
  hungInRealTime: false,
  listLooks: [],
  visibilityMs: 30_000,
  watchedUntil: moment(1_010_000),
};

/** The same push run with each notification changed. */
export const withCases = (run: PushRun, change: (pushCase: PushCase) => Partial<PushCase>): PushRun => ({
  ...run,
  pushCases: run.pushCases.map((pushCase) => ({ ...pushCase, ...change(pushCase) })),
});

/** The same push run with each push changed. */
export const withPushes = (run: PushRun, change: (push: SeenPush, index: number) => SeenPush): PushRun =>
  withCases(run, ({ pushes }) => ({ pushes: pushes.map(change) }));

/** What a push run would see of such a sender. */
export const pushRunOf = (sender: Sender, more: Partial<PushRun> = {}): PushRun => {
  const before = Object.values(warmUps({ acknowledgedStatus: 200, maxPushes: 5 })).map((plan) => ({
    plan,
    startMs: -60_000,
  }));
  const batches = batchesOf({
    acknowledgedStatus: 200,
    maxPushes: 5,
    seed: 1,
    elsewhere: (name) => `https://receiver.example/elsewhere/${name}`,
  }).flatMap(({ from, after, plans }) =>
    plans.map((plan) => ({
      plan,
      startMs: after * 30_000 + (from === "main" ? 0 : silenceAfterMs(documentLimits)),
    })),
  );
  const pushCases = [...before, ...batches].map(({ plan, startMs }): PushCase => {
    const accountId = `11111111-0000-4000-8000-${(plan.family ?? plan.name).length.toString(16).padStart(12, "0")}`;
    const pushes: SeenPush[] = [];
    for (const [index, instantMs] of sender.instantsMs(plan).entries()) {
      const action = plan.actions[Math.min(index, plan.actions.length - 1)] as PushAction;
      const body = notificationBody(idOf(plan.name), accountId);
      pushes.push(
        pushAt(startMs + instantMs, action, {
          attempt: index + 1,
          widthMs: instantMs === 0 ? 0 : (sender.widthMs ?? 0),
          line: { body, notificationId: idOf(plan.name), accountId },
        }),
      );
      if ((sender.isDone ?? acknowledges)(action, index)) break;
    }
    return {
      ...plan,
      accountId,
      notificationId: idOf(plan.name),
      triggered: moment(startMs),
      pushes,
    };
  });
  return {
    ...emptyPushRun,
    pushCases,
    outages: [outageOf("untrusted", -100, -90)],
    watchedFromMs: -60_000,
    ...more,
  };
};
