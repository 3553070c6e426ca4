import type { SampleOutcome } from "../../../conformance/contract/load-record.ts";
import { metricNames, setUpName } from "../../protocol.ts";
import { COMMA, createLineSplitter, createRow, pairIn, type Row } from "./csv.ts";

/** Receives the content of k6's CSV rows, one call per relevant row. Moments are wall-clock milliseconds. */
export interface RowSink {
  /** A request that ended at this moment. Durations are in milliseconds. */
  request(atMs: number, sample: RequestSample): void;
  arrival(atMs: number, lagMs: number): void;
  /** A request that was told as granted just before, although its answer granted nothing. */
  hollow(atMs: number, sample: RequestSample): void;
  dropped(atMs: number, count: number): void;
  /** Virtual users, busy or ready. */
  virtualUsers(atMs: number, count: number): void;
  checks(atMs: number, rule: string, count: number): void;
  breach(atMs: number, rule: string): void;
  /** A credential was issued; the digest is hexadecimal. */
  issued(atMs: number, what: string, digest: string): void;
  /** An event for an account was acknowledged. */
  event(atMs: number, sentAtMs: number, account: string, notification: string | undefined): void;
  start(atMs: number): void;
}

export interface RequestSample {
  readonly endpoint: string;
  readonly outcome: SampleOutcome;
  /** From the first byte sent to the last one received. */
  readonly serviceMs: number;
  /** Time before that: waiting for a connection, including name resolution, TCP and TLS. */
  readonly blockedMs: number;
  /** Start lag of the request's iteration. */
  readonly lagMs: number;
}

/** Fields at the start of every row: metric_name, timestamp, metric_value. */
const VALUE = 2;

/**
 * Reads k6's CSV (output `csv`, timestamps in microseconds). Nine of ten rows are unused: they are recognised by a few
 * bytes and never decoded. The rows of one request arrive together, its duration directly before its blocked time, so
 * that two rows make one sample.
 */
export const createRowReader = (sink: RowSink) => {
  const row = createRow();
  let unreadable = 0;
  let columns: Columns | undefined;
  /** The duration of the request whose blocked time is next. */
  let pending: (RequestSample & { readonly atMs: number }) | undefined;

  const release = (blockedMs: number): void => {
    if (pending === undefined) return;
    const { atMs, ...sample } = pending;
    pending = undefined;
    sink.request(atMs, { ...sample, blockedMs });
  };

  const read = (kind: Kind): void => {
    if (kind === "header") {
      columns = columnsOf(row);
      return;
    }
    if (columns === undefined) throw new Error("k6's CSV does not begin with the names of its columns");
    const atMs = row.number(1) / 1_000;
    const value = row.number(VALUE);
    if (Number.isNaN(atMs) || Number.isNaN(value)) {
      unreadable += 1;
      return;
    }
    if (kind === "blocked") return release(value);
    release(0);
    if (kind === "duration") {
      const sample = requestOf(row, columns, value);
      // Requests of the set-up precede the load and do not count.
      if (sample.endpoint !== setUpName) pending = { atMs, ...sample };
    } else tell(sink, kind, { atMs, value, row, columns });
  };

  const push = createLineSplitter((bytes, from, to) => {
    const kind = kindOf(bytes, from, to);
    if (kind === undefined) return;
    row.read(bytes, from, to);
    read(kind);
  });
  return {
    /** Consumes bytes cut anywhere. They may be overwritten after the call. */
    push,
    /** Number of unreadable rows: zero as long as k6 writes the CSV format that this reader supports. */
    unreadable: (): number => unreadable,
  };
};

type Kind = "header" | "duration" | "blocked" | "dropped" | "users" | keyof typeof metricNames;

const code = (character: string): number => character.charCodeAt(0);
const [H, T, D, V, M, R, B, S] = ["h", "t", "d", "v", "m", "r", "b", "s"].map(code);
const UNDERSCORE = code("_");
const ownPrefix = "touchstone_".length;
/** Our own metrics differ in the letters directly after the prefix. */
const own = Object.entries(metricNames).map(
  ([kind, name]) => [kind as keyof typeof metricNames, Buffer.from(`${name},`)] as const,
);

/** The kind of a row, by the few bytes that distinguish k6's metrics; undefined for unused metrics. */
const kindOf = (bytes: Buffer, from: number, to: number): Kind | undefined => {
  switch (bytes[from]) {
    case H: {
      // http_req_duration and http_req_blocked, as opposed to http_reqs and seven others.
      if (bytes[from + 8] !== UNDERSCORE) return undefined;
      const letter = bytes[from + 9];
      return letter === D ? "duration" : letter === B ? "blocked" : undefined;
    }
    case T: {
      return own.find(([, name]) => isAt(name, bytes, from))?.[0];
    }
    case D:
      // dropped_iterations, as opposed to data_sent and data_received.
      return bytes[from + 1] === R ? "dropped" : undefined;
    case V:
      // vus, but not vus_max.
      return bytes[from + 2] === S && bytes[from + 3] === COMMA ? "users" : undefined;
    case M:
      return to > from ? "header" : undefined;
    default:
      return undefined;
  }
};

const isAt = (name: Buffer, bytes: Buffer, from: number): boolean => {
  // Compares after the common prefix first, where most names differ.
  for (let at = ownPrefix; at < name.length; at += 1) if (bytes[from + at] !== name[at]) return false;
  for (let at = 0; at < ownPrefix; at += 1) if (bytes[from + at] !== name[at]) return false;
  return true;
};

interface Columns {
  readonly name: number;
  readonly status: number;
  readonly expected: number;
  readonly tags: number;
  readonly metadata: number;
}

const columnsOf = (row: Row): Columns => {
  const names = Array.from({ length: row.count() }, (_, field) => row.text(field));
  const at = (name: string): number => {
    const found = names.indexOf(name);
    if (found === -1) throw new Error(`k6's CSV has no column ${name}; it has ${names.join(", ")}`);
    return found;
  };
  return {
    name: at("name"),
    status: at("status"),
    expected: at("expected_response"),
    tags: at("extra_tags"),
    metadata: at("metadata"),
  };
};

/** The outcome of a request, by whether k6 expected its status and by the status itself. */
const requestOf = (row: Row, columns: Columns, serviceMs: number): RequestSample => {
  const status = row.number(columns.status);
  const hasFailed = row.text(columns.expected) === "false" || !(status > 0);
  return {
    endpoint: row.text(columns.name),
    outcome: hasFailed ? "failed" : status < 400 ? "granted" : "refused",
    serviceMs,
    blockedMs: 0,
    lagMs: numberIn(pairIn(row.text(columns.metadata), "lag")),
  };
};

const numberIn = (text: string | undefined): number => Number(text) || 0;

interface OwnRow {
  readonly atMs: number;
  readonly value: number;
  readonly row: Row;
  readonly columns: Columns;
}

const tell = (sink: RowSink, kind: Exclude<Kind, "header" | "duration" | "blocked">, own: OwnRow): void => {
  const { atMs, value, row, columns } = own;
  const tag = (name: string): string => pairIn(row.text(columns.tags), name) ?? "";
  const noted = (name: string): string | undefined => pairIn(row.text(columns.metadata), name);
  switch (kind) {
    case "dropped":
      return sink.dropped(atMs, value);
    case "users":
      return sink.virtualUsers(atMs, value);
    case "hollow":
      return sink.hollow(atMs, {
        endpoint: tag("endpoint"),
        outcome: "failed",
        serviceMs: value,
        blockedMs: numberIn(noted("blocked")),
        lagMs: numberIn(noted("lag")),
      });
    case "arrival":
      return sink.arrival(atMs, value);
    case "start":
      return sink.start(value);
    case "check":
      return sink.checks(atMs, tag("rule"), value);
    case "breach":
      return sink.breach(atMs, tag("rule"));
    case "issued":
      return sink.issued(atMs, tag("what"), noted("digest") ?? "");
    case "event":
      return sink.event(atMs, Number(noted("sentAt") ?? atMs), noted("account") ?? "", noted("notification"));
  }
};
