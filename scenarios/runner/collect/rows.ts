import type { SampleOutcome } from "../../../conformance/contract/load-record.ts";
import { metricNames, setUpName } from "../../protocol.ts";

/** What the rows of k6's CSV tell, one call a row that matters. Moments are wall-clock milliseconds. */
export interface RowSink {
  /** A request that has ended at this moment. Durations are in milliseconds. */
  request(atMs: number, sample: RequestSample): void;
  /** An iteration has begun, so much later than it was meant to. */
  arrival(atMs: number, lagMs: number): void;
  /** Iterations that k6 could not start. */
  dropped(atMs: number, count: number): void;
  /** Virtual users that were busy or could have been. */
  virtualUsers(atMs: number, count: number): void;
  checks(atMs: number, rule: string, count: number): void;
  breach(atMs: number, rule: string): void;
  /** A credential was issued; the digest is hexadecimal. */
  issued(atMs: number, what: string, digest: string): void;
  event(atMs: number, sentAtMs: number, notification: string | undefined): void;
  /** The load began at this moment. */
  start(atMs: number): void;
}

export interface RequestSample {
  readonly endpoint: string;
  readonly outcome: SampleOutcome;
  /** From the first byte sent to the last one received. */
  readonly serviceMs: number;
  /** Before it: waiting for a connection, with its name, TCP and TLS. */
  readonly blockedMs: number;
  /** How late the iteration began that the request belongs to. */
  readonly lagMs: number;
}

export interface RowReader {
  /** Takes the next bytes, cut anywhere. They may be overwritten after the call. */
  readonly push: (bytes: Uint8Array) => void;
  /** Rows that could not be read: none, as long as k6 writes the CSV that this reader knows. */
  readonly unreadable: () => number;
}

const NEWLINE = 10;
const COMMA = 44;
const QUOTE = 34;
const LONGEST_ROW = 65_536;

/** Fields of every row before the tags: metric_name, timestamp, metric_value. */
const VALUE = 2;
const MOST_FIELDS = 16;

/**
 * Reads k6's CSV (output `csv`, timestamps in microseconds). Nine of ten rows are of no interest:
 * they are told by a few of their bytes and never become text. The rows of one request stand
 * together, its duration directly before its blocked time; so two rows make one sample.
 */
export const createRowReader = (sink: RowSink): RowReader => {
  const row = createRow();
  const carry = Buffer.alloc(LONGEST_ROW);
  let carried = 0;
  let unreadable = 0;
  let columns: Columns | undefined;
  /** The duration of the request whose blocked time comes next. */
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
      // What gets a script's data ready comes before the load and is no part of it.
      if (sample.endpoint !== setUpName) pending = { atMs, ...sample };
    } else tell(sink, kind, { atMs, value, row, columns });
  };

  /** Reads one line, without its end. */
  const line = (bytes: Buffer, from: number, to: number): void => {
    const kind = kindOf(bytes, from, to);
    if (kind === undefined) return;
    row.read(bytes, from, to);
    read(kind);
  };

  return {
    push: (chunk) => {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let from = 0;
      if (carried > 0) {
        const end = bytes.indexOf(NEWLINE);
        const upTo = end === -1 ? bytes.length : end;
        if (carried + upTo > LONGEST_ROW)
          throw new Error("a row of k6's CSV is longer than any that k6 writes");
        carried += bytes.copy(carry, carried, 0, upTo);
        if (end === -1) return;
        line(carry, 0, carried);
        carried = 0;
        from = end + 1;
      }
      for (let end = bytes.indexOf(NEWLINE, from); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
        line(bytes, from, end);
        from = end + 1;
      }
      carried = bytes.copy(carry, 0, from);
    },
    unreadable: () => unreadable,
  };
};

type Kind = "header" | "duration" | "blocked" | "dropped" | "users" | keyof typeof metricNames;

const code = (character: string): number => character.charCodeAt(0);
const [H, T, D, V, M, R, B, S] = ["h", "t", "d", "v", "m", "r", "b", "s"].map(code);
const UNDERSCORE = code("_");
const ownPrefix = "touchstone_".length;
/** Our own metrics differ in their letters right after the prefix. */
const own = Object.entries(metricNames).map(
  ([kind, name]) => [kind as keyof typeof metricNames, Buffer.from(`${name},`)] as const,
);

/** What kind of row it is, by as few bytes as tell the metrics of k6 apart; undefined for what nobody asks about. */
const kindOf = (bytes: Buffer, from: number, to: number): Kind | undefined => {
  switch (bytes[from]) {
    case H: {
      // http_req_duration and http_req_blocked, among http_reqs and seven more.
      if (bytes[from + 8] !== UNDERSCORE) return undefined;
      const letter = bytes[from + 9];
      return letter === D ? "duration" : letter === B ? "blocked" : undefined;
    }
    case T: {
      const kind = own.find(([, name]) => isAt(name, bytes, from))?.[0];
      return kind;
    }
    case D:
      // dropped_iterations, among data_sent and data_received.
      return bytes[from + 1] === R ? "dropped" : undefined;
    case V:
      // vus, and not vus_max.
      return bytes[from + 2] === S && bytes[from + 3] === COMMA ? "users" : undefined;
    case M:
      return to > from ? "header" : undefined;
    default:
      return undefined;
  }
};

const isAt = (name: Buffer, bytes: Buffer, from: number): boolean => {
  // Behind the common prefix first, where most names differ.
  for (let at = ownPrefix; at < name.length; at += 1) if (bytes[from + at] !== name[at]) return false;
  for (let at = 0; at < ownPrefix; at += 1) if (bytes[from + at] !== name[at]) return false;
  return true;
};

/** One row after the other, with its fields found: an object for each would be garbage the moment after. */
interface Row {
  readonly read: (bytes: Buffer, from: number, to: number) => void;
  readonly text: (field: number) => string;
  readonly number: (field: number) => number;
  readonly count: () => number;
}

/** A field may stand in quotes, with commas in it (RFC 4180). */
const createRow = (): Row => {
  /** Where each field begins, and one more, as if another came behind the last. */
  const starts = new Int32Array(MOST_FIELDS + 1);
  let bytes: Buffer = Buffer.alloc(0);
  let count = 0;
  const startOf = (field: number): number => starts[field] ?? 0;
  const endOf = (field: number): number => startOf(field + 1) - 1;
  return {
    read: (of, from, to) => {
      let isQuoted = false;
      bytes = of;
      starts[0] = from;
      count = 1;
      for (let at = from; at < to && count < MOST_FIELDS; at += 1) {
        const byte = of[at];
        if (byte === QUOTE) isQuoted = !isQuoted;
        else if (byte === COMMA && !isQuoted) {
          starts[count] = at + 1;
          count += 1;
        }
      }
      starts[count] = to + 1;
    },
    count: () => count,
    number: (field) => (field < count ? decimal(bytes, startOf(field), endOf(field)) : Number.NaN),
    text: (field) => {
      if (field >= count || startOf(field) === endOf(field)) return "";
      const text = bytes.toString("utf8", startOf(field), endOf(field));
      return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
    },
  };
};

/** A plain decimal number, as Go prints it; NaN for anything else. */
const decimal = (bytes: Buffer, from: number, to: number): number => {
  const isNegative = bytes[from] === 45;
  let [value, scale] = [0, 0];
  for (let at = isNegative ? from + 1 : from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === 46 && scale === 0) scale = 1;
    else if (byte >= 48 && byte <= 57) {
      value = value * 10 + (byte - 48);
      scale *= 10;
    } else return Number.NaN;
  }
  if (from === to) return Number.NaN;
  return (isNegative ? -value : value) / (scale === 0 ? 1 : scale);
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

/** Where the script names no failure of its own, k6's verdict on the status and the status itself tell the outcome. */
const requestOf = (row: Row, columns: Columns, serviceMs: number): RequestSample => {
  const status = row.number(columns.status);
  const hasFailed = row.text(columns.expected) === "false" || !(status > 0);
  return {
    endpoint: row.text(columns.name),
    outcome: hasFailed ? "failed" : status < 400 ? "granted" : "refused",
    serviceMs,
    blockedMs: 0,
    lagMs: Number(pairIn(row.text(columns.metadata), "lag") ?? 0) || 0,
  };
};

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
      return sink.event(atMs, Number(noted("sentAt") ?? atMs), noted("notification"));
  }
};

/** The value of a name in `name=value&name=value`, whose order k6 leaves open. */
const pairIn = (pairs: string, name: string): string | undefined => {
  for (let from = 0; from < pairs.length;) {
    const found = pairs.indexOf("&", from);
    const to = found === -1 ? pairs.length : found;
    if (pairs.startsWith(name, from) && pairs[from + name.length] === "=")
      return pairs.slice(from + name.length + 1, to);
    from = to + 1;
  }
  return undefined;
};
