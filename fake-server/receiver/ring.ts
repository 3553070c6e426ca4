/**
 * Lines are stored as bytes in a few large reused buffers. As strings they would live just long enough to be promoted
 * to the old generation, and a receiver under load would grow by hundreds of megabytes.
 */
interface Segment {
  readonly bytes: Buffer;
  readonly numbers: number[];
  /** Offset of each line, and of the end. */
  readonly starts: number[];
}

const SEGMENT_BYTES = 1_048_576;

/** The newest lines within a bounded number of bytes. */
export const createRing = (maxBytes: number) => {
  const most = Math.max(2, Math.ceil(maxBytes / SEGMENT_BYTES));
  let segments: Segment[] = [];

  /** Reuses the oldest segment's buffer for the newest lines, if it has the usual size and is large enough. */
  const begin = (needed: number): Segment => {
    const dropped = segments.length >= most ? segments.shift() : undefined;
    const bytes =
      dropped?.bytes.length === SEGMENT_BYTES && needed <= SEGMENT_BYTES
        ? dropped.bytes
        : Buffer.allocUnsafeSlow(Math.max(needed, SEGMENT_BYTES));
    const segment = { bytes, numbers: [], starts: [0] };
    segments.push(segment);
    return segment;
  };

  return {
    add: (n: number, text: string): void => {
      const needed = Buffer.byteLength(text);
      const newest = segments.at(-1);
      const segment =
        newest !== undefined && (newest.starts.at(-1) ?? 0) + needed <= newest.bytes.length
          ? newest
          : begin(needed);
      const start = segment.starts.at(-1) ?? 0;
      segment.numbers.push(n);
      segment.starts.push(start + segment.bytes.write(text, start));
    },
    /** Lines with numbers above `after` and up to `upTo`, at most `limit`. Numbers may have gaps. */
    between: (after: number, upTo: number, limit: number): readonly string[] => {
      const lines: string[] = [];
      for (const { bytes, numbers, starts } of segments) {
        if ((numbers.at(-1) ?? 0) <= after) continue;
        for (let index = firstAfter(numbers, after); index < numbers.length; index += 1) {
          if (lines.length >= limit || (numbers[index] ?? 0) > upTo) return lines;
          lines.push(bytes.toString("utf8", starts[index], starts[index + 1]));
        }
      }
      return lines;
    },
    clear: (): void => {
      segments = [];
    },
  };
};

/** The index of the first number above `after`, by binary search. */
const firstAfter = (numbers: readonly number[], after: number): number => {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) > after) high = middle;
    else low = middle + 1;
  }
  return low;
};
