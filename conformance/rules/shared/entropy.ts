/**
 * How many bits of a credential an outsider has to guess, estimated from a sample in order of issue (RFC 6749 section
 * 10.10). Each position counts the bits that its observed characters allow; a column that repeats another counts once;
 * the leading part that rises or falls in order of issue (a clock, a counter) counts nothing. `known` are values that
 * the outsider may hold, one per sample value; what also appears in them counts nothing.
 */
export const bitsToGuess = (sample: readonly string[], known: readonly string[] = []): number => {
  const columns = columnsOf(sample);
  const alphabet = new Set(columns.filter((column) => new Set(column).size > 1).flat()).size;
  const free = new Set(columnsOf(known).map(keyOf));
  const counted = new Map(
    columns
      .slice(orderedPrefix(sample, columns.length))
      .filter((column) => !free.has(keyOf(column)))
      .map((column) => [keyOf(column), column]),
  );
  return Math.round([...counted.values()].reduce((sum, column) => sum + bitsOf(column, alphabet), 0));
};

type Column = readonly string[];

/** The characters at each position over all values; empty if a value is too short. */
const columnsOf = (values: readonly string[]): Column[] =>
  Array.from({ length: Math.max(0, ...values.map((value) => value.length)) }, (_, at) =>
    values.map((value) => value.charAt(at)),
  );

const keyOf = (column: Column): string => column.join("\n");

/**
 * Bits of one position. A uniform choice among `alphabet` characters shows a certain number of distinct ones in a
 * sample of this size; a position with clearly fewer chooses only among those it shows.
 */
const bitsOf = (column: Column, alphabet: number): number => {
  const distinct = new Set(column).size;
  if (distinct < 2) return 0;
  const expected = alphabet * (1 - (1 - 1 / alphabet) ** column.length);
  return Math.log2(distinct >= expected * 0.5 ? alphabet : distinct);
};

const orderedPrefix = (sample: readonly string[], length: number): number =>
  Math.max(...[1, -1].map((direction) => prefixInOrder(sample, length, direction)));

const prefixInOrder = (sample: readonly string[], length: number, direction: number): number => {
  for (let size = 1; size <= length; size += 1) {
    const steps = sample
      .slice(1)
      .map(
        (value, at) => alphabetically(value.slice(0, size), (sample[at] ?? "").slice(0, size)) * direction,
      );
    if (steps.some((step) => step < 0)) return size - 1;
    // From here on the order is settled, and what follows may be anything.
    if (steps.every((step) => step > 0)) return size;
  }
  return length;
};

/**
 * How hard values of one kind are to guess, judged by many of them in order of issue: bits, the length of their shared
 * prefix, and whether each follows its predecessor in counter order.
 */
export const guessability = (values: readonly string[]) => {
  const columns = columnsOf(values);
  const differing = columns.findIndex((column) => new Set(column).size > 1);
  const sharedPrefix = differing < 0 ? columns.length : differing;
  return { bits: bitsToGuess(values), sharedPrefix, monotone: isMonotone(values) };
};

const isMonotone = (values: readonly string[]): boolean => {
  const steps = values.slice(1).map((value, index) => asCounters(values[index] ?? "", value));
  return steps.length > 4 && (steps.every((step) => step < 0) || steps.every((step) => step > 0));
};

const alphabetically = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Shorter before longer, so that counters are in order whether padded or not. */
const asCounters = (a: string, b: string): number => a.length - b.length || alphabetically(a, b);
