import { harmless, harmlessLines } from "../../../conformance/contract/harmless-text.ts";
import { fieldOf, parseJson } from "../../../conformance/contract/json.ts";
import type { PushLine, Push, PushAction, PushPlan } from "../../../conformance/contract/push.ts";
import { shorten } from "../../../conformance/contract/text.ts";
import {
  type Answer,
  answerOf,
  outcomeOf,
  usualAcknowledgementStatus,
} from "../../../conformance/judging/pushes/answer.ts";
import type { TimeInterval } from "../../../conformance/judging/interval.ts";
import {
  pushToleranceOf,
  timingOf,
  windowsOf,
  instantsOf,
  type ReadingName,
  readingsOf,
} from "../../../conformance/judging/pushes/readings.ts";

type PushOf = Extract<PushLine, { kind: "push" }>;

/** What the page keeps of a push; the rest is read when the push is opened. */
export interface Attempt {
  readonly n: number;
  /** Milliseconds since 1970, from the monotonic stamp and the start of its epoch. */
  readonly startMs: number;
  /** When it ended, or while it is open, when its request was complete. */
  readonly endMs: number;
  readonly answer: Answer;
}

export interface Notification {
  readonly key: string;
  /** Undefined for what is not a notification. */
  readonly id: string | undefined;
  readonly about: string;
  readonly attempts: Attempt[];
}

/** As many rows as anyone reads, and pushes that one shows: an open page never fills up. */
const MOST_ROWS = 300;
const MOST_ATTEMPTS = 40;

const shown = (text: string): string => harmless(shorten(text, 100));

const rowFor = (push: PushOf): Notification => {
  const { notificationId: id, accountId, method, path } = push;
  if (id === undefined)
    return { key: `${method} ${path}`, id, about: shown(`${method} ${path}`), attempts: [] };
  const words = [fieldOf(parseJson(push.body), "businessType"), accountId];
  const about = words.filter((word) => typeof word === "string").join(" · ");
  return { key: `id ${id}`, id: shown(id), about: shown(about), attempts: [] };
};

/** The newest notifications, each with its pushes, made of the lines of a journal in their order. */
export const createStore = () => {
  const notifications = new Map<string, Notification>();
  /** Milliseconds since 1970 at the zero of each epoch's clock. */
  const zeros = new Map<string, number>();
  const seen = { dropped: 0, fault: "" };
  const wallMs = (epoch: string, atMs: number): number => (zeros.get(epoch) ?? 0) + atMs;

  const addPush = (push: PushOf): void => {
    const fresh = rowFor(push);
    const row = notifications.get(fresh.key) ?? fresh;
    notifications.set(row.key, row);
    const [oldest = ""] = notifications.size > MOST_ROWS ? notifications.keys() : [];
    seen.dropped += notifications.delete(oldest) ? 1 : 0;
    const startMs = wallMs(push.epoch, push.firstByteMs);
    const endMs = wallMs(push.epoch, push.answeredMs ?? push.completeMs);
    if (row.attempts.length < MOST_ATTEMPTS)
      row.attempts.push({ n: push.n, startMs, endMs, answer: answerOf({ line: push }) });
  };
  const end = (line: Extract<PushLine, { kind: "answered" }>): void => {
    for (const { attempts } of notifications.values()) {
      const index = attempts.findIndex(({ n }) => n === line.push);
      const attempt = attempts[index];
      if (attempt === undefined) continue;
      const answer = { ...attempt.answer, outcome: line.outcome };
      attempts[index] = { ...attempt, endMs: wallMs(line.epoch, line.answeredMs), answer };
    }
  };
  return {
    notifications: notifications as ReadonlyMap<string, Notification>,
    /** How many notifications are no longer shown, and the newest fault on the wire, such as a failed handshake. */
    seen,
    wallMs,
    add: (line: PushLine): void => {
      if (line.kind === "started") zeros.set(line.epoch, Date.parse(line.at) - line.atMs);
      if (line.kind === "fault") seen.fault = harmless(line.message.slice(0, 300));
      if (line.kind === "cleared") notifications.clear();
      if (line.kind === "push") addPush(line);
      if (line.kind === "answered") end(line);
    },
  };
};

/** The schedule that pushes are held against: a reading of the document, and the delays in it. */
interface Schedule {
  readonly reading: ReadingName;
  readonly delaysMs: readonly number[];
}

const limitsOf = ({ delaysMs }: Schedule) => ({ pushDelaysMs: delaysMs, maxPushes: delaysMs.length + 1 });

const readingIn = (schedule: Schedule) => {
  const found = readingsOf(limitsOf(schedule)).find(({ name }) => name === schedule.reading);
  if (found === undefined) throw new TypeError(`There is no reading ${schedule.reading}`);
  return found;
};

/** Milliseconds of each push after the first, if every push failed immediately. */
export const offsetsMs = (schedule: Schedule): readonly number[] => {
  const instants = instantsOf(readingIn(schedule));
  return instants.map((instant) => instant - (instants[0] ?? 0));
};

/** The page has no profile, so it expects the usual code. */
export const isAcknowledged = ({ answer }: Attempt): boolean =>
  outcomeOf(answer, usualAcknowledgementStatus) === "acknowledged";

export const isOpen = ({ answer: { action, outcome } }: Attempt): boolean =>
  outcome === undefined && (action === "answer" || action === "hang");

export interface Progress {
  readonly kind: "acknowledged" | "waiting" | "overdue" | "exhausted" | "other";
  readonly words: string;
  /** When each push is due, in milliseconds since the first. */
  readonly windows: readonly TimeInterval[];
  readonly timings: readonly ("on-time" | "early" | "late" | "one too many" | "after acknowledgement")[];
  /** When each push began and ended, in milliseconds since the first began. */
  readonly spans: readonly { readonly startMs: number; readonly endMs: number }[];
}

const moment = (atMs: number): TimeInterval => ({ earliestMs: atMs, latestMs: atMs });

/** A receiver sees no events: the first push is assumed to have been on time. */
const windowsFor = (schedule: Schedule, spans: Progress["spans"]): readonly TimeInterval[] => {
  const reading = readingIn(schedule);
  const triggered = moment((spans[0]?.startMs ?? 0) - (reading.delaysMs[0] ?? 0));
  const pushes = spans.map(({ startMs, endMs }) => ({ at: moment(startMs), ended: moment(endMs) }));
  return windowsOf(reading, { triggered, pushes }, pushToleranceOf(limitsOf(schedule), "real", undefined));
};

const outlook = (
  attempts: readonly Attempt[],
  windows: readonly TimeInterval[],
  ageMs: number,
): Pick<Progress, "kind" | "words"> => {
  const next = windows[attempts.length];
  const name = `push ${attempts.length + 1}`;
  if (attempts.some(isOpen)) return { kind: "waiting", words: `push ${attempts.length} is open` };
  if (next === undefined) return { kind: "exhausted", words: "never acknowledged" };
  if (ageMs > next.latestMs) return { kind: "overdue", words: `${name} is overdue` };
  const inS = Math.ceil((next.earliestMs - ageMs) / 1_000);
  return { kind: "waiting", words: inS <= 0 ? `${name} is due` : `${name} in ${inS} s` };
};

/** How a notification stands in a schedule. `nowMs` is the receiver's wall clock. Pure. */
export const progressOf = ({ id, attempts }: Notification, schedule: Schedule, nowMs: number): Progress => {
  const zeroMs = attempts[0]?.startMs ?? nowMs;
  const spans = attempts.map((attempt) => ({
    startMs: attempt.startMs - zeroMs,
    endMs: (isOpen(attempt) ? Math.max(nowMs, attempt.endMs) : attempt.endMs) - zeroMs,
  }));
  if (id === undefined)
    return { kind: "other", words: "not a push", windows: [], timings: spans.map(() => "on-time"), spans };
  const windows = windowsFor(schedule, spans);
  const first = attempts.findIndex(isAcknowledged);
  const timings = spans.map(({ startMs }, index) => {
    if (index > first && startMs > (spans[first]?.endMs ?? Infinity)) return "after acknowledgement";
    const window = windows[index];
    return window === undefined ? "one too many" : timingOf(moment(startMs), window);
  });
  if (first === -1) return { ...outlook(attempts, windows, nowMs - zeroMs), windows, timings, spans };
  const words = first === 0 ? "acknowledged" : `acknowledged at push ${first + 1}`;
  return { kind: "acknowledged", words, windows: windows.slice(0, first + 1), timings, spans };
};

const always = (otherwise: PushAction): PushPlan => ({ rules: [], otherwise });
const twice = [503, 503, 200].map((status): PushAction => ({ kind: "answer", status }));

/** The plans that the page offers. */
export const plans: readonly (readonly [words: string, plan: PushPlan])[] = [
  ["acknowledge", { rules: [] }],
  ["500", always({ kind: "answer", status: 500 })],
  ["503 twice, then acknowledge", { rules: [{ match: {}, attempts: twice }] }],
  ["received: false", always({ kind: "answer", body: "not-received" })],
  ["no body", always({ kind: "answer", body: "empty" })],
  ["acknowledge after 10 s", always({ kind: "answer", delayMs: 10_000 })],
  ["no answer", always({ kind: "hang" })],
  ["close before the answer", always({ kind: "close", when: "before-answer" })],
  ["close within the answer", always({ kind: "close", when: "half-answer" })],
  ["TCP reset", always({ kind: "reset" })],
];

/** How a push ended, in a few words. */
export const endOf = (attempt: Attempt): string => {
  const { action, outcome, status } = attempt.answer;
  if (isOpen(attempt)) return action === "hang" ? "no answer, still open" : `${status ?? 200} is being sent`;
  if (outcome === "abandoned") return "the sender left first";
  const words: Record<Push["action"], string> = {
    answer: `answered ${status ?? 200}`,
    hang: "no answer",
    close: status === undefined ? "closed before an answer" : `${status}, closed midway`,
    reset: "connection reset",
    "not-a-push": `not a push, ${status ?? "refused"}`,
    "too-large": `too large, ${status ?? "refused"}`,
  };
  return words[action];
};

/** A message as on the wire, with JSON indented: line ends stay, what hides or reorders text becomes visible. */
const messageOf = (head: string, body: string): string => {
  const indented = JSON.stringify(parseJson(body), undefined, 2) ?? body;
  return `${harmlessLines(head)}\n\n${harmlessLines(indented.replaceAll("\r\n", "\n"))}`;
};

export const requestText = ({ method, path, headers, body }: Push): string => {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return messageOf([`${method} ${path} HTTP/1.1`, ...lines].join("\n"), body);
};

export const answerText = ({ answer }: Push, attempt: Attempt): string => {
  if (answer === undefined) return `(${endOf(attempt)})`;
  const at = answer.indexOf("\r\n\r\n");
  return messageOf(answer.slice(0, at).replaceAll("\r\n", "\n"), answer.slice(at + 4));
};
