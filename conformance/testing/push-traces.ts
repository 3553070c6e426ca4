import { documentLimits } from "../contract/limits.ts";
import type { Push, PushLine } from "../contract/push.ts";
import { readingsOf, type Reading } from "../judging/pushes/readings.ts";
import { madePush, notificationBody } from "./made.ts";

/** Who judges a trace. */
export type Driver = "gate" | "load" | "page" | "picture";

/** `open` if only the gate distinguishes undecided from kept. */
type Kept = "kept" | "broken" | "open";

/** What every driver must say about a trace. */
export interface TraceVerdict {
  readonly schedule: Kept;
  readonly cap: Kept;
  /** No push after the acknowledgement. */
  readonly stops: Kept;
  /** No overdue push is missing. */
  readonly retries: Kept;
}

/** The journal of one notification, with its event at 0 on the receiver's clock. */
export interface Trace {
  readonly name: string;
  readonly reading: Reading;
  readonly clock: "virtual" | "real";
  /** Whether the target's clock was seen to stand still unless it is moved. */
  readonly isMovedOnly?: boolean;
  /** The pushes of the sender's other notification, if it does not follow the reading in time. */
  readonly companionMs?: readonly number[];
  readonly lines: readonly PushLine[];
  readonly watchedUntilMs: number;
  readonly verdict: TraceVerdict;
  /** Drivers that do not see what decides. */
  readonly notFor: readonly Driver[];
}

export const keeping: TraceVerdict = { schedule: "kept", cap: "kept", stops: "kept", retries: "kept" };

/** What the receiver did with a push. */
type Done = Partial<Push>;

export const traceId = "6f0d3bd6-3b0c-4b43-9c63-5a3f4f9f0001";
export const traceAccountId = "6f0d3bd6-3b0c-4b43-9c63-5a3f4f9f0002";

const answered = (status: number, body: string): Done => ({
  action: "answer",
  status,
  outcome: "sent",
  answer: `HTTP/1.1 ${status} \r\ncontent-type: application/json\r\n\r\n${body}`,
});
const confirming = (id: string): string => JSON.stringify({ id, received: true });
const fails = answered(500, "{}");

/** A push of a notification at this moment, as in the receiver's journal. */
export const lineAt = (n: number, atMs: number, attempt: number, done: Done, id = traceId): PushLine => ({
  kind: "push",
  n,
  epoch: "one",
  ...madePush(atMs, {
    body: notificationBody(id, traceAccountId),
    notificationId: id,
    accountId: traceAccountId,
    attempt,
    connection: { id: n, remotePort: 1, request: 1 },
    action: "answer",
    ...done,
  }),
});

/** Moments of a sender that follows a reading, and how late it is with the push at an index that is due at a moment. */
const momentsBy = (
  { from, delaysMs }: Reading,
  lateMs: (index: number, dueMs: number) => number,
): readonly number[] => {
  const moments: number[] = [];
  for (const [index, delayMs] of delaysMs.entries()) {
    const base = from === "event" || index === 0 ? 0 : (moments[from === "first" ? 0 : index - 1] ?? 0);
    moments.push(base + delayMs + lateMs(index, base + delayMs));
  }
  return moments;
};

/** Moments of a sender that follows a reading, with the push at index `at` off by `offMs`. */
export const momentsOf = (reading: Reading, at = -1, offMs = 0): readonly number[] =>
  momentsBy(reading, (index) => (index === at ? offMs : 0));

const WATCHED_MS = 2_000_000;

const trace = (
  name: string,
  reading: Reading,
  pushes: readonly (readonly [atMs: number, done: Done])[],
  verdict: Partial<TraceVerdict>,
  more: Partial<Trace> = {},
): Trace => ({
  name: `${reading.name} ${name}`,
  reading,
  clock: "real",
  lines: pushes.map(([atMs, done], index) => lineAt(index + 1, atMs, index + 1, done)),
  watchedUntilMs: WATCHED_MS,
  verdict: { ...keeping, ...verdict },
  notFor: [],
  ...more,
});

const failing = (moments: readonly number[]) => moments.map((atMs) => [atMs, fails] as const);

/** A push that is off by this much, on either side of the tolerance: 1 s early in real time; 10 s or 15 % late. */
const offTraces = (reading: Reading): readonly Trace[] =>
  reading.delaysMs.flatMap((delayMs, index) => {
    const lateMs = index === 0 ? 20_000 : Math.max(10_000, 0.15 * delayMs);
    const offs: readonly (readonly [offMs: number, clock: Trace["clock"], schedule: Kept])[] = [
      [-5_000, "real", "broken"],
      [-1_001, "real", "broken"],
      [-999, "real", "kept"],
      [-500, "real", "kept"],
      [0, "real", "kept"],
      [5_000, "real", "kept"],
      [lateMs - 1, "real", "kept"],
      // Late by exactly a divisor of the delays, one push alone may have come on the next tick of a sender that polls.
      [lateMs + 100, "real", "broken"],
      [-500, "virtual", "broken"],
      [-1, "virtual", "broken"],
      [0, "virtual", "kept"],
      [lateMs - 1, "virtual", "kept"],
      [lateMs + 1, "virtual", "broken"],
    ];
    return offs.flatMap(([offMs, clock, schedule]) => {
      const moments = momentsOf(reading, index, offMs);
      if ((moments[index] ?? 0) < 0) return [];
      const isFirst = index === 0 && offMs !== 0;
      // R4 with another first moment is R1, a little late each time, like a polling sender.
      const open = schedule === "broken" && index === 0 && reading.name === "R4";
      const notFor: readonly Driver[] = [
        ...(clock === "virtual" ? (["load", "page"] as const) : []),
        // A page sees no event, and under load the lateness of a first push is measured, not judged.
        ...(isFirst ? (["page", "load"] as const) : []),
      ];
      const name = `push ${index + 1} off by ${offMs} ms, ${clock}`;
      const verdict = { schedule: open ? "open" : schedule };
      return [trace(name, reading, failing(moments), verdict, { clock, notFor })];
    });
  });

const missing = { schedule: "broken", retries: "broken" } as const;

/** Pushes that end too soon, watched until the next one is overdue and until just before. */
const missingTraces = (reading: Reading): readonly Trace[] =>
  reading.delaysMs.slice(1).flatMap((_, index) => {
    const moments = momentsOf(reading);
    const pushes = failing(moments.slice(0, index + 1));
    const watchedUntilMs = (moments[index + 1] ?? 0) - 2_000;
    // Four pushes of R3 are all that R8 has, and for this notification alone they are R8.
    const isWhole = reading.name === "R3" && index === 3;
    const open = { schedule: isWhole ? "kept" : "open" } as const;
    return [
      trace(`push ${index + 2} is missing`, reading, pushes, missing, { notFor: isWhole ? ["picture"] : [] }),
      trace(`push ${index + 2} is not due yet`, reading, pushes, open, { watchedUntilMs }),
    ];
  });

/** Acknowledged at each push, and pushed again or not. */
const acknowledgedTraces = (reading: Reading): readonly Trace[] => {
  const moments = momentsOf(reading);
  return moments.flatMap((atMs, index) => {
    const acknowledged = [atMs, answered(200, confirming(traceId))] as const;
    const until = [...failing(moments.slice(0, index)), acknowledged];
    const one = trace(`acknowledged at push ${index + 1}`, reading, until, {});
    const more = failing(moments.slice(index + 1, index + 2));
    if (more.length === 0) return [one];
    const name = `pushed after the acknowledgement of push ${index + 1}`;
    return [one, trace(name, reading, [...until, ...more], { stops: "broken" })];
  });
};

/** Answers that are not acknowledgements, or did not arrive: another push is not a breach. */
const openTraces = (reading: Reading): readonly Trace[] => {
  const acknowledgement = confirming(traceId);
  const opens: Readonly<Record<string, Done>> = {
    "another id": answered(200, confirming(traceAccountId)),
    "received: false": answered(200, JSON.stringify({ id: traceId, received: false })),
    "no body": answered(200, ""),
    "no JSON": answered(200, "received"),
    "another success code": answered(201, acknowledgement),
    "an answer that the sender left": { ...answered(200, acknowledgement), outcome: "abandoned" },
    "the expected code, cut": { action: "close", status: 200, outcome: "closed" },
    "the expected code without an end": { action: "hang", status: 200, outcome: "abandoned" },
  };
  const [first = 0, second = 0] = momentsOf(reading);
  const last = [second, answered(200, acknowledgement)] as const;
  return Object.entries(opens).map(([name, done]) =>
    trace(`pushed again after ${name}`, reading, [[first, done], last], {}),
  );
};

/** Failures of every kind are retried, with the same end. */
const failureTraces = (reading: Reading): readonly Trace[] => {
  const failures: Readonly<Record<string, Done>> = {
    "a redirect": answered(302, ""),
    "a client error": answered(404, confirming(traceId)),
    "a server error, cut": { action: "close", status: 503, outcome: "closed" },
    "a server error without an end": { action: "hang", status: 503, outcome: "abandoned" },
    "a reset": { action: "reset", outcome: "reset" },
    "a closed connection": { action: "close", outcome: "closed" },
    "no answer": { action: "hang", outcome: "abandoned" },
  };
  return Object.entries(failures).flatMap(([name, done]) => {
    const pushes = momentsOf(reading).map((atMs) => [atMs, done] as const);
    return [
      trace(`always ${name}`, reading, pushes, {}),
      trace(`once only after ${name}`, reading, pushes.slice(0, 1), missing),
    ];
  });
};

const beyondTrace = (reading: Reading): Trace => {
  const moments = momentsOf(reading);
  const pushes = failing([...moments, (moments.at(-1) ?? 0) + 480_000]);
  const broken = { schedule: "broken", cap: "broken" } as const;
  return trace("one push too many", reading, pushes, broken, { watchedUntilMs: 4_000_000 });
};

/** When a sender of this reading pushes that notices retries only on ticks, on the one on which they are due or the next. */
const polledMoments = (
  reading: Reading,
  eventMs: number,
  isNext: boolean,
  periodMs = HALF_A_MINUTE_MS,
): readonly number[] =>
  momentsBy(reading, (index, dueMs) => {
    if (index === 0) return 0;
    const sinceTickMs = (eventMs + dueMs) % periodMs;
    return sinceTickMs > 0 || isNext ? periodMs - sinceTickMs : 0;
  });

const HALF_A_MINUTE_MS = 30_000;

/** Senders that poll for due retries, which the document leaves open, and senders that only seem to. */
const polledTraces = (reading: Reading): readonly Trace[] => {
  const all = (name: string, moments: readonly number[], schedule: Kept, isMovedOnly = true): Trace =>
    trace(
      name,
      reading,
      failing(moments),
      { schedule },
      { notFor: ["page", "picture"], isMovedOnly, companionMs: moments },
    );
  const polled = [0, 1, 15_000, 29_999].flatMap((eventMs) =>
    [true, false].map((isNext) => {
      const moments = polledMoments(reading, eventMs, isNext);
      const isInTime = moments.every((ms, index) => ms - (momentsOf(reading)[index] ?? 0) <= 10_000);
      const name = `noticed every half minute, event ${eventMs} ms after a tick`;
      return all(isNext ? `${name}, next tick if due on one` : name, moments, isInTime ? "kept" : "open");
    }),
  );
  const looped = [60, 150, 240].map((workMs) => {
    // So that a retry is due just after a tick, and too late on the next one.
    const eventMs = reading.from === "event" ? 800 : 11_300;
    const moments = polledMoments(reading, eventMs, false, 20_000 + workMs);
    return all(`noticed by a loop that sleeps 20 s and works ${workMs} ms`, moments, "open", false);
  });
  const single = reading.delaysMs.slice(2).map((delayMs, index) => {
    const name = `push ${index + 3} alone half a minute late, for all notifications`;
    const schedule = HALF_A_MINUTE_MS > 0.15 * delayMs ? "broken" : "kept";
    return all(name, momentsOf(reading, index + 2, HALF_A_MINUTE_MS), schedule);
  });
  return [...polled, ...looped, ...single];
};

/** A push that was on its way when another was acknowledged does not count as following it. */
const concurrentTrace = (reading: Reading): Trace => {
  const [first = 0] = momentsOf(reading);
  const acknowledged = answered(200, confirming(traceId));
  const both = [first, first].map((atMs) => [atMs, acknowledged] as const);
  // The second one is early by the schedule, which does not apply once the first was acknowledged.
  return trace("two workers at once", reading, both, {}, { notFor: ["page", "picture"] });
};

/** The picture shows a never-acknowledged notification. */
const withoutPicture = (one: Trace): Trace => ({ ...one, notFor: [...one.notFor, "picture"] });

/** Traces of every reading within the maximum number of pushes. */
export const traces: readonly Trace[] = readingsOf(documentLimits)
  .filter(({ keepsCap }) => keepsCap)
  .flatMap((reading) => [
    ...offTraces(reading),
    ...missingTraces(reading),
    ...[...acknowledgedTraces(reading), ...openTraces(reading)].map(withoutPicture),
    ...failureTraces(reading),
    ...(reading.pushes === documentLimits.maxPushes ? [beyondTrace(reading)] : []),
    concurrentTrace(reading),
    ...polledTraces(reading),
  ]);
