import type { SampleOutcome } from "../../../conformance/contract/load-record.ts";
import { metricNames } from "../../protocol.ts";

/** Receives the content of k6's CSV rows, one call per relevant row. Moments are wall-clock milliseconds. */
export interface RowSink {
  /** A request that ended at this moment. Durations are in milliseconds. */
  request(atMs: number, sample: RequestSample): void;
  arrival(atMs: number, lagMs: number): void;
  /** A request that the load generator could not send, for what it ran out of. */
  unsent(atMs: number, limit: string): void;
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
  /** Why it failed. */
  readonly cause?: string | undefined;
  /** From the first byte sent to the last one received. */
  readonly serviceMs: number;
  /** Time before that: waiting for a connection, including name resolution, TCP and TLS. */
  readonly blockedMs: number;
  /** Start lag of the request's iteration. */
  readonly lagMs: number;
}

/**
 * Reads k6's CSV (output `csv`, timestamps in microseconds) from bytes that are cut anywhere and may be overwritten after
 * the call. Nine of ten rows are of metrics that nobody uses, and are not decoded.
 */
export const createRowReader = (sink: RowSink): ((chunk: Uint8Array) => void) => {
  const readers = new Map(Object.entries(readersFor(sink)));
  let columns: Columns | undefined;
  return createLineSplitter((bytes, from, to) => {
    const metric = bytes.toString("latin1", from, Math.max(from, bytes.indexOf(COMMA, from)));
    if (metric === "metric_name") {
      columns = columnsOf(bytes.toString("utf8", from, to).split(","));
      return;
    }
    const read = readers.get(metric);
    if (read === undefined) return;
    if (columns === undefined) throw new Error("k6's CSV does not begin with the names of its columns");
    read(rowOf(bytes.toString("utf8", from, to), columns));
  });
};

/** What each metric's rows tell the sink. */
const readersFor = (sink: RowSink): Readonly<Record<string, (row: Row) => void>> => ({
  dropped_iterations: ({ atMs, value }) => sink.dropped(atMs, value),
  vus: ({ atMs, value }) => sink.virtualUsers(atMs, value),
  [metricNames.request]: (row) => {
    const [outcome, cause] = [tag(row, "outcome"), tag(row, "cause")];
    if (outcome === "unsent") return sink.unsent(row.atMs, cause);
    sink.request(row.atMs, {
      endpoint: tag(row, "endpoint"),
      outcome: outcome as SampleOutcome,
      ...(cause !== "" && { cause }),
      serviceMs: row.value,
      blockedMs: Number(noted(row, "blocked")),
      lagMs: Number(noted(row, "lag")) || 0,
    });
  },
  [metricNames.arrival]: ({ atMs, value }) => sink.arrival(atMs, value),
  [metricNames.start]: ({ value }) => sink.start(value),
  [metricNames.check]: (row) => sink.checks(row.atMs, tag(row, "rule"), row.value),
  [metricNames.breach]: (row) => sink.breach(row.atMs, tag(row, "rule")),
  [metricNames.issued]: (row) => sink.issued(row.atMs, tag(row, "what"), noted(row, "digest") ?? ""),
  [metricNames.event]: (row) =>
    sink.event(
      row.atMs,
      Number(noted(row, "sentAt")),
      noted(row, "account") ?? "",
      noted(row, "notification"),
    ),
});

const columnNames = ["extra_tags", "metadata"] as const;
type Columns = Readonly<Record<(typeof columnNames)[number], number>>;
type Row = ReturnType<typeof rowOf>;

const columnsOf = (names: readonly string[]): Columns =>
  Object.fromEntries(
    columnNames.map((name) => {
      const found = names.indexOf(name);
      if (found === -1) throw new Error(`k6's CSV has no column ${name}; it has ${names.join(", ")}`);
      return [name, found];
    }),
  ) as Columns;

/** Every row begins with its metric, its time and its value. */
const rowOf = (line: string, columns: Columns) => {
  const fields = fieldsOf(line);
  const of = (name: keyof Columns): string => fields[columns[name]] ?? "";
  const [atMs, value] = [Number(fields[1]) / 1_000, Number(fields[2])];
  if (Number.isNaN(atMs + value)) throw new Error(`a row of k6's CSV has no time or no value: ${line}`);
  return {
    atMs,
    value,
    tags: of("extra_tags"),
    metadata: of("metadata"),
  };
};

/** A field may be quoted and then contain commas (RFC 4180). */
const fieldsOf = (line: string): readonly string[] =>
  line.includes('"')
    ? Array.from(line.matchAll(/(?<=^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g), ([, quoted, plain = ""]) =>
        quoted === undefined ? plain : quoted.replaceAll('""', '"'),
      )
    : line.split(",");

/** The value of a name in `name=value&name=value`; k6 does not specify the order. */
const pairIn = (pairs: string, name: string): string | undefined =>
  pairs
    .split("&")
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);

const tag = ({ tags }: Row, name: string): string => pairIn(tags, name) ?? "";
const noted = ({ metadata }: Row, name: string): string | undefined => pairIn(metadata, name);

const NEWLINE = 10;
const COMMA = 44;
const LONGEST_ROW = 65_536;

/** Splits chunks of bytes, cut anywhere, into lines without line ends. A chunk may be overwritten after the call. */
const createLineSplitter = (
  onLine: (bytes: Buffer, from: number, to: number) => void,
): ((chunk: Uint8Array) => void) => {
  const carry = Buffer.alloc(LONGEST_ROW);
  let carried = 0;
  return (chunk) => {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    if (carried > 0) {
      const end = bytes.indexOf(NEWLINE);
      const upTo = end === -1 ? bytes.length : end;
      if (carried + upTo > LONGEST_ROW)
        throw new Error("a row of k6's CSV is longer than any k6 should write");
      carried += bytes.copy(carry, carried, 0, upTo);
      if (end === -1) return;
      onLine(carry, 0, carried);
      carried = 0;
      from = end + 1;
    }
    for (let end = bytes.indexOf(NEWLINE, from); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      onLine(bytes, from, end);
      from = end + 1;
    }
    carried = bytes.copy(carry, 0, from);
  };
};
