const NEWLINE = 10;
export const COMMA = 44;
const QUOTE = 34;
const MINUS = 45;
const POINT = 46;
const LONGEST_ROW = 65_536;
const MOST_FIELDS = 16;

/**
 * Splits chunks of bytes, cut anywhere, into lines without line ends. The bytes of a chunk may be overwritten after the
 * call.
 */
export const createLineSplitter = (
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

export type Row = ReturnType<typeof createRow>;

/**
 * A reusable reader of rows: an object per row would immediately become garbage. A field may be quoted and then contain
 * commas (RFC 4180).
 */
export const createRow = () => {
  /** Start of each field, plus one entry as if another field followed the last. */
  const starts = new Int32Array(MOST_FIELDS + 1);
  let bytes: Buffer = Buffer.alloc(0);
  let count = 0;
  const startOf = (field: number): number => starts[field] ?? 0;
  const endOf = (field: number): number => startOf(field + 1) - 1;
  return {
    read: (of: Buffer, from: number, to: number): void => {
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
    number: (field: number) => (field < count ? decimal(bytes, startOf(field), endOf(field)) : Number.NaN),
    text: (field: number): string => {
      if (field >= count || startOf(field) === endOf(field)) return "";
      const text = bytes.toString("utf8", startOf(field), endOf(field));
      return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
    },
  };
};

/** A plain decimal number as printed by Go; NaN for anything else. */
const decimal = (bytes: Buffer, from: number, to: number): number => {
  const isNegative = bytes[from] === MINUS;
  let [value, scale] = [0, 0];
  for (let at = isNegative ? from + 1 : from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === POINT && scale === 0) scale = 1;
    else if (byte >= 48 && byte <= 57) {
      value = value * 10 + (byte - 48);
      scale *= 10;
    } else return Number.NaN;
  }
  if (from === to) return Number.NaN;
  return (isNegative ? -value : value) / (scale === 0 ? 1 : scale);
};

/** The value of a name in `name=value&name=value`; k6 does not specify the order. */
export const pairIn = (pairs: string, name: string): string | undefined => {
  for (let from = 0; from < pairs.length;) {
    const found = pairs.indexOf("&", from);
    const to = found === -1 ? pairs.length : found;
    if (pairs.startsWith(name, from) && pairs[from + name.length] === "=")
      return pairs.slice(from + name.length + 1, to);
    from = to + 1;
  }
  return undefined;
};
