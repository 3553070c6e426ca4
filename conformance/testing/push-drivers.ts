import { progressOf, createStore } from "../../fake-server/receiver/page/rows.ts";
import { windowsIn } from "../../reports/html/pictures/gate.ts";
import type { ScheduleRow } from "../../reports/text/facts.ts";
import { judgePushes } from "../../scenarios/runner/push/judge.ts";
import { seenPushes } from "../../scenarios/runner/push/seen.ts";
import type { PushLine } from "../contract/push.ts";
import { judgeCap } from "../judging/pushes/cap.ts";
import { judgeLateAcknowledgement } from "../judging/pushes/delivery.ts";
import type { Finding } from "../judging/pushes/finding.ts";
import { pushToleranceOf, timingOf } from "../judging/pushes/fits.ts";
import { pushesIn } from "../judging/pushes/journal.ts";
import { judgeRetries } from "../judging/pushes/retries.ts";
import { judgeSchedule } from "../judging/pushes/schedule.ts";
import { answerOf, outcomeOf } from "../judging/pushes/answer.ts";
import type { PushCase, PushRun, SeenPush } from "../judging/pushes/trace.ts";
import { emptyPushRun, moment } from "./push-runs.ts";
import {
  lineAt,
  momentsOf,
  traceAccountId,
  traceId,
  type Driver,
  type Trace,
  type TraceVerdict,
} from "./push-traces.ts";

const { limits } = emptyPushRun;
const keptIf = (isKept: boolean) => (isKept ? "kept" : "broken");

/** A correct notification of the same sender, which shows the reading that the sender follows. */
const otherId = "6f0d3bd6-3b0c-4b43-9c63-5a3f4f9f0003";
const companionOf = ({ reading, watchedUntilMs, companionMs }: Trace): readonly PushLine[] =>
  (companionMs ?? momentsOf(reading))
    .filter((atMs) => atMs <= watchedUntilMs)
    .map((atMs, index) => lineAt(1_000 + index, atMs, index + 1, { status: 500, outcome: "sent" }, otherId));

const caseOf = (name: string, lines: readonly PushLine[], purpose: PushCase["purpose"]): PushCase => ({
  name,
  purpose,
  expect: { kind: "pushes", pushes: limits.maxPushes },
  actions: [{ kind: "answer", status: 500 }],
  accountId: name,
  notificationId: name,
  triggered: moment(0),
  pushes: pushesIn(lines).map((line): SeenPush => ({
    line,
    at: moment(line.firstByteMs),
    ended: moment(line.answeredMs ?? line.completeMs),
    action: undefined,
  })),
});

export const gateRun = (trace: Trace): PushRun => {
  const outcomes = pushesIn(trace.lines).map((line) => outcomeOf(answerOf({ line }), 200));
  const purpose =
    outcomes[0] === "acknowledged"
      ? "prompt"
      : outcomes.includes("acknowledged")
        ? outcomes.includes("open")
          ? "open"
          : "late"
        : "never";
  const { latenessMs, earlyGuardMs } = pushToleranceOf(limits, trace.clock, undefined);
  return {
    ...emptyPushRun,
    clock: trace.clock,
    isMovedOnly: trace.isMovedOnly === true,
    latenessMs,
    earlyGuardMs,
    pushCases: [caseOf(otherId, companionOf(trace), "never"), caseOf(traceId, trace.lines, purpose)],
    watchedUntil: moment(trace.watchedUntilMs),
  };
};

const kinds = { passed: "kept", failed: "broken", inconclusive: "open" } as const;

const byGate = (trace: Trace): TraceVerdict => {
  const run = gateRun(trace);
  const kindOf = (judge: (run: PushRun) => Finding) => judge(run).judgement.kind;
  return {
    schedule: kinds[kindOf(judgeSchedule) as keyof typeof kinds],
    cap: keptIf(kindOf(judgeCap) !== "failed"),
    stops: keptIf(kindOf(judgeLateAcknowledgement) !== "failed"),
    retries: keptIf(kindOf(judgeRetries) !== "failed"),
  };
};

const byLoad = (trace: Trace): TraceVerdict => {
  const lines = [...trace.lines, ...companionOf(trace)];
  const { rules } = judgePushes({
    events: [traceId, otherId].map((notificationId) => ({
      notificationId,
      accountId: traceAccountId,
      atMs: 0,
      target: moment(0),
    })),
    pushes: seenPushes(lines, { origin: moment(0), startedAtMs: 0, stops: [], isMovedOnly: false }),
    watchedUntil: moment(trace.watchedUntilMs),
    limits,
    latenessMs: undefined,
    isMovedOnly: trace.isMovedOnly === true,
    acknowledgedStatus: 200,
    askedRateAt: () => 1,
  });
  const keeps = (id: string) => keptIf(rules.find((rule) => rule.id === id)?.breaches === 0);
  return {
    schedule: keeps("push.schedule"),
    cap: keeps("push.cap"),
    stops: keeps("push.acknowledged-stops"),
    retries: keeps("push.unacknowledged-retries"),
  };
};

const byPage = (trace: Trace): TraceVerdict => {
  const startedMs = Date.parse("2030-01-01T00:00:00.000Z");
  const store = createStore();
  store.add({ kind: "started", n: 0.5, epoch: "one", at: "2030-01-01T00:00:00.000Z", atMs: 0 });
  for (const line of trace.lines) store.add(line);
  const [row] = store.notifications.values();
  if (row === undefined) throw new Error("the page shows no row");
  const schedule = { reading: trace.reading.name, delaysMs: limits.pushDelaysMs };
  const { kind, timings } = progressOf(row, schedule, startedMs + trace.watchedUntilMs);
  const isBeyond = timings.includes("one too many");
  return {
    schedule: keptIf(
      !timings.includes("early") && !timings.includes("late") && !isBeyond && kind !== "overdue",
    ),
    cap: keptIf(!isBeyond),
    stops: keptIf(!timings.includes("after acknowledgement")),
    retries: keptIf(kind !== "overdue"),
  };
};

/** What a reader sees in the picture of the schedule: bands outside their windows, or none in an expired window. */
const byPicture = (trace: Trace): Pick<TraceVerdict, "schedule" | "cap"> => {
  const pushCases = [caseOf(traceId, trace.lines, "never")];
  const { facts } = judgeSchedule({ ...gateRun(trace), pushCases });
  const rows = (facts as { readonly schedule?: readonly ScheduleRow[] } | undefined)?.schedule ?? [];
  const windows = windowsIn(rows, trace.reading.name);
  const isOff = rows.some(({ afterMs, beforeMs }, index) => {
    if (afterMs === undefined || beforeMs === undefined) return false;
    const at = { earliestMs: afterMs, latestMs: beforeMs };
    return windows[index] === undefined || timingOf(at, windows[index]) !== "on-time";
  });
  const isMissing = windows.some(
    ({ latestMs }, index) => rows[index]?.afterMs === undefined && latestMs < trace.watchedUntilMs,
  );
  return {
    schedule: keptIf(!isOff && !isMissing),
    cap: keptIf(rows.filter(({ afterMs }) => afterMs !== undefined).length <= limits.maxPushes),
  };
};

/** Four ways from a journal to a verdict. */
export const drivers = { gate: byGate, load: byLoad, page: byPage, picture: byPicture } satisfies Record<
  Driver,
  (trace: Trace) => Partial<TraceVerdict>
>;
