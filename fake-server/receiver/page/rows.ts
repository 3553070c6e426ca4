import { harmless } from "../../../conformance/contract/harmless-text.ts";
import { fieldOf, parseJson } from "../../../conformance/contract/json.ts";
import type { PushLine } from "../../../conformance/contract/push.ts";
import { shorten } from "../../../conformance/contract/text.ts";
import { type Answer, answerOf } from "../../../conformance/judging/pushes/answer.ts";

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
