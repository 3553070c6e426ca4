import { fieldOf, parseJson } from "../../../../conformance/contract/json.ts";
import { harmless } from "../../../../conformance/contract/harmless-text.ts";
import {
  answerOf,
  outcomeOf,
  usualAcknowledgementStatus,
} from "../../../../conformance/judging/pushes/answer.ts";
import type { Answered, PushLine } from "../../../../conformance/contract/push.ts";

type PushOf = Extract<PushLine, { kind: "push" }>;

/** What the page stores of a push; the rest is requested when its details are opened. */
export interface Attempt {
  readonly n: number;
  /** Wall-clock milliseconds since 1970, from the monotonic stamp and the start of its epoch. */
  readonly startMs: number;
  /** When it ended, or while it is open, when its request was complete. */
  endMs: number;
  readonly action: PushOf["action"];
  readonly status: number | undefined;
  /** How it ended; undefined while it is open. */
  outcome: Answered["outcome"] | undefined;
  /** Whether the body of its answer confirms receipt. */
  readonly confirms: boolean;
}

export interface Notification {
  readonly key: string;
  /** Number in the order of first pushes, from 1. */
  readonly number: number;
  readonly id: string | undefined;
  readonly accountId: string | undefined;
  readonly summary: string;
  readonly attempts: Attempt[];
  /** Number of pushes beyond those stored. */
  more: number;
  /** Lower-case text searched by the filter. */
  text: string;
}

/** Anything that is not a push: the receiver started or forgot, its listener changed, a sender made a mistake. */
interface Remark {
  readonly n: number;
  readonly wallMs: number;
  readonly kind: "started" | "listener" | "fault" | "cleared";
  readonly message: string;
}

export interface Bounds {
  readonly notifications: number;
  readonly attempts: number;
  readonly remarks: number;
  /** Pushes that have not ended. */
  readonly open: number;
}

/** Enough for a day of work; then the oldest rows are dropped, so that an open browser never fills up. */
export const bounds: Bounds = { notifications: 120_000, attempts: 40, remarks: 200, open: 20_000 };

type RemarkLine = Exclude<PushLine, { kind: "push" | "answered" }>;

/**
 * A short copy. Slicing alone is not enough: the engine keeps the whole string alive behind a slice, and a hostile
 * sender chooses its length.
 */
const short = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`.split("").join("");

/** The same, for display. */
const shown = (text: string, length: number): string => harmless(short(text, length));

const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Business type and outcome, and the template if there is one. */
const summaryOf = (push: PushOf): string => {
  const body = push.bodyEncoding === "utf8" ? parseJson(push.body) : undefined;
  const words = ["businessType", "businessStatus", "Template"].map((name) => stringOf(fieldOf(body, name)));
  return shown(words.filter((word) => word !== "").join(" · "), 80);
};

/** The page has no profile, so it expects the default code. */
export const isAcknowledged = (attempt: Attempt): boolean =>
  outcomeOf(attempt, usualAcknowledgementStatus) === "acknowledged";

export const isOpen = ({ action, outcome }: Attempt): boolean =>
  outcome === undefined && (action === "answer" || action === "hang");

/** Pushes without an id have a row per account, method and path. */
const keyOf = (push: PushOf): string =>
  push.notificationId === undefined
    ? `other ${short(push.method, 16)} ${short(push.path, 120)} ${short(push.accountId ?? "", 80)}`
    : `id ${short(push.notificationId, 120)}`;

const started = (push: PushOf, number: number): Notification => {
  const id = push.notificationId === undefined ? undefined : shown(push.notificationId, 120);
  const accountId = push.accountId === undefined ? undefined : shown(push.accountId, 80);
  const summary = summaryOf(push) || (id === undefined ? shown(`${push.method} ${push.path}`, 97) : "");
  return {
    key: keyOf(push),
    number,
    id,
    accountId,
    summary,
    attempts: [],
    more: 0,
    text: [id, accountId, summary, shown(push.path, 120)].join(" ").toLowerCase(),
  };
};

const messageOf = (line: RemarkLine): string => {
  if (line.kind === "started") return "The receiver started";
  if (line.kind === "cleared") return "The receiver was told to forget what came before";
  return line.kind === "listener" ? `The listener is ${line.state}` : shown(line.message, 300);
};

type WallTime = (epoch: string, atMs: number) => number;

const attemptOf = (push: PushOf, wallMs: WallTime): Attempt => ({
  n: push.n,
  startMs: wallMs(push.epoch, push.firstByteMs),
  endMs: wallMs(push.epoch, push.answeredMs ?? push.completeMs),
  action: push.action,
  status: push.status,
  outcome: push.outcome,
  confirms: answerOf({ line: push }).confirms,
});

const dropOldest = <Key>(map: Map<Key, unknown>): void => {
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
};

const createRows = (most: Bounds, counts: { pushes: number; dropped: number }, wall: WallTime) => {
  const notifications = new Map<string, Notification>();
  const open = new Map<number, Attempt>();
  let numbers = 0;
  const rowOf = (push: PushOf): Notification => {
    const known = notifications.get(keyOf(push));
    if (known !== undefined) return known;
    if (notifications.size >= most.notifications) {
      dropOldest(notifications);
      counts.dropped += 1;
    }
    numbers += 1;
    const row = started(push, numbers);
    notifications.set(row.key, row);
    return row;
  };
  return {
    notifications: notifications as ReadonlyMap<string, Notification>,
    add: (push: PushOf): void => {
      counts.pushes += 1;
      const row = rowOf(push);
      if (row.attempts.length >= most.attempts) {
        row.more += 1;
        return;
      }
      const attempt = attemptOf(push, wall);
      row.attempts.push(attempt);
      row.text += ` ${push.status ?? ""} ${push.action}`;
      if (push.outcome === undefined) open.set(push.n, attempt);
      if (open.size > most.open) dropOldest(open);
    },
    end: (line: Extract<PushLine, { kind: "answered" }>): void => {
      const attempt = open.get(line.push);
      if (attempt === undefined) return;
      open.delete(line.push);
      attempt.endMs = wall(line.epoch, line.answeredMs);
      attempt.outcome = line.outcome;
    },
    clear: (): void => {
      notifications.clear();
      open.clear();
      counts.pushes = 0;
    },
  };
};

export type Store = ReturnType<typeof createStore>;

export const createStore = (most: Bounds = bounds) => {
  const remarks: Remark[] = [];
  const counts = { pushes: 0, faults: 0, dropped: 0, last: 0 };
  /** Wall-clock time at the zero of each epoch's monotonic clock. */
  const zeros = new Map<string, number>();
  const wall: WallTime = (epoch, atMs) => (zeros.get(epoch) ?? 0) + atMs;
  const rows = createRows(most, counts, wall);
  const addRemark = (line: RemarkLine): void => {
    const { n, kind, epoch, atMs } = line;
    if (kind === "started") zeros.set(epoch, Date.parse(line.at) - atMs);
    if (kind === "fault") counts.faults += 1;
    if (kind === "cleared") rows.clear();
    remarks.push({ n, kind, wallMs: wall(epoch, atMs), message: messageOf(line) });
    if (remarks.length > most.remarks) remarks.shift();
  };
  return {
    notifications: rows.notifications,
    remarks: remarks as readonly Remark[],
    counts,
    /** Wall-clock time at a moment of an epoch; undefined until the start of the epoch is known. */
    wallMs: (epoch: string, atMs: number): number | undefined =>
      zeros.has(epoch) ? wall(epoch, atMs) : undefined,
    /** Sets the wall-clock time at the zero of an epoch whose line "started" has not been read. */
    presume: (epoch: string, zeroMs: number): void => {
      if (!zeros.has(epoch)) zeros.set(epoch, zeroMs);
    },
    add: (line: PushLine): void => {
      if (line.n <= counts.last) return;
      counts.last = line.n;
      if (line.kind === "push") rows.add(line);
      else if (line.kind === "answered") rows.end(line);
      else addRemark(line);
    },
  };
};
