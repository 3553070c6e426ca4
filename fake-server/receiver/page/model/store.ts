import type { PushLine } from "../../../../conformance/contract/push.ts";

type PushOf = Extract<PushLine, { kind: "push" }>;

/** What the page keeps of one push; the rest is asked for again when its details are opened. */
export interface Attempt {
  readonly n: number;
  readonly epoch: string;
  /** Wall clock in milliseconds since 1970, from the monotonic stamp and the start of its epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attempt: number;
  readonly action: PushOf["action"];
  readonly status: number | undefined;
}

/** One row of the page. */
export interface Notification {
  readonly key: string;
  /** Number in the order of first pushes, from 1. */
  readonly number: number;
  readonly id: string | undefined;
  readonly accountId: string | undefined;
  readonly summary: string;
  readonly attempts: Attempt[];
  /** Pushes beyond those that are kept. */
  more: number;
  /** Lower-case text that the filter looks through. */
  text: string;
}

/** Something that is no push: the receiver started, its listener changed, or a sender did something wrong. */
export interface Remark {
  readonly n: number;
  readonly wallMs: number;
  readonly kind: "started" | "listener" | "fault";
  readonly message: string;
}

export interface Bounds {
  readonly notifications: number;
  readonly attempts: number;
  readonly remarks: number;
}

/** Enough for a day of work; beyond it the oldest rows go, so that a browser left open never fills up. */
export const bounds: Bounds = { notifications: 120_000, attempts: 40, remarks: 200 };

export interface Store {
  readonly notifications: ReadonlyMap<string, Notification>;
  readonly remarks: readonly Remark[];
  readonly counts: { pushes: number; faults: number; dropped: number; last: number };
  readonly add: (line: PushLine) => void;
  /** Wall clock at a moment of an epoch; undefined while the epoch's start has not been read. */
  readonly wallMs: (epoch: string, atMs: number) => number | undefined;
}

/**
 * A short copy. Cutting alone would not do: an engine keeps the whole long string alive behind a slice of it,
 * and a hostile sender chooses how long it is.
 */
const short = (text: string, length: number): string =>
  text.length <= length ? text : [...text.slice(0, length - 1), "…"].join("");

const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Business type and outcome, and the template where there is one. */
const summaryOf = (push: PushOf): string => {
  if (push.bodyEncoding !== "utf8") return "";
  try {
    const body: unknown = JSON.parse(push.body);
    if (typeof body !== "object" || body === null) return "";
    const fields = body as Record<string, unknown>;
    const words = [fields["businessType"], fields["businessStatus"], fields["Template"]].map(stringOf);
    return short(words.filter((word) => word !== "").join(" · "), 80);
  } catch {
    return "";
  }
};

export const isAcknowledged = ({ action, status = 200 }: Attempt): boolean =>
  action === "answer" && status >= 200 && status < 300;

const outcomeWords = ({ action, status }: Attempt): string => `${status ?? ""} ${action}`;

/** What arrived without an id has a row of its own per account, method and path. */
const keyOf = (push: PushOf): string =>
  push.notificationId === undefined
    ? `other ${short(push.method, 16)} ${short(push.path, 120)} ${short(push.accountId ?? "", 80)}`
    : `id ${short(push.notificationId, 120)}`;

const started = (push: PushOf, number: number): Notification => {
  const id = push.notificationId === undefined ? undefined : short(push.notificationId, 120);
  const accountId = push.accountId === undefined ? undefined : short(push.accountId, 80);
  const summary =
    summaryOf(push) || (id === undefined ? `${short(push.method, 16)} ${short(push.path, 80)}` : "");
  return {
    key: keyOf(push),
    number,
    id,
    accountId,
    summary,
    attempts: [],
    more: 0,
    text: [id, accountId, summary, short(push.path, 120)].join(" ").toLowerCase(),
  };
};

const remarkOf = (line: Exclude<PushLine, PushOf>, wallMs: number): Remark => {
  const message =
    line.kind === "started"
      ? "The receiver started"
      : line.kind === "listener"
        ? `The listener is ${line.state}`
        : short(line.message, 300);
  return { n: line.n, wallMs, kind: line.kind, message };
};

/** Gathers lines into notifications, in bounded memory. */
export const createStore = ({ notifications: most, attempts, remarks: mostRemarks }: Bounds = bounds): Store => {
  const notifications = new Map<string, Notification>();
  const remarks: Remark[] = [];
  const counts = { pushes: 0, faults: 0, dropped: 0, last: 0 };
  /** Wall clock at the zero of each epoch's monotonic clock. */
  const zeros = new Map<string, number>();
  let numbers = 0;

  const wall = (epoch: string, atMs: number): number => (zeros.get(epoch) ?? 0) + atMs;

  const rowOf = (push: PushOf): Notification => {
    const known = notifications.get(keyOf(push));
    if (known !== undefined) return known;
    if (notifications.size >= most) {
      const [oldest] = notifications.keys();
      if (oldest !== undefined) notifications.delete(oldest);
      counts.dropped += 1;
    }
    numbers += 1;
    const row = started(push, numbers);
    notifications.set(row.key, row);
    return row;
  };

  const addPush = (push: PushOf): void => {
    counts.pushes += 1;
    const row = rowOf(push);
    const attempt: Attempt = {
      n: push.n,
      epoch: push.epoch,
      startMs: wall(push.epoch, push.firstByteMs),
      endMs: wall(push.epoch, push.answeredMs ?? push.completeMs),
      attempt: push.attempt,
      action: push.action,
      status: push.status,
    };
    if (row.attempts.length >= attempts) {
      row.more += 1;
      return;
    }
    row.attempts.push(attempt);
    row.text += ` ${outcomeWords(attempt)}`;
  };

  const addRemark = (line: Exclude<PushLine, PushOf>): void => {
    if (line.kind === "started") zeros.set(line.epoch, Date.parse(line.at) - line.atMs);
    if (line.kind === "fault") counts.faults += 1;
    remarks.push(remarkOf(line, wall(line.epoch, line.atMs)));
    if (remarks.length > mostRemarks) remarks.shift();
  };

  return {
    notifications,
    remarks,
    counts,
    wallMs: (epoch, atMs) => (zeros.has(epoch) ? wall(epoch, atMs) : undefined),
    add: (line) => {
      if (line.n <= counts.last) return;
      counts.last = line.n;
      if (line.kind === "push") addPush(line);
      else addRemark(line);
    },
  };
};
