/** Shorter values share half of themselves with too many words that are not secret. */
const SHORTEST = 12;
/** A word that shares this much of a value, at its start and end together, gives the value away. */
const TELLING = 0.75;
/** Shorter words contain too little of any value. */
export const LEAST_LENGTH = SHORTEST * TELLING;
/**
 * Limits on the value lengths, and on values sharing one half, that are searched for: enough for real services, and a
 * bound for the others.
 */
const MOST_LENGTHS = 24;
const MOST_ALIKE = 4;

const halfOf = (length: number): number => Math.floor(length / 2);
const SHORTEST_HALF = halfOf(SHORTEST);
const BUCKETS = 1 << 18;
/** The bit that distinguishes lower from upper case in ASCII. */
const CASE_BIT = 0x20;

/** Maximum numbers of common types. Probes send them, and they reveal no secret. */
const commonplace = new Set(["9007199254740993", "18446744073709551616", "12345678901234567890123456789"]);

/** Finds words that are nearly a known value: truncated, extended, changed, or in another case. */
export type NearMisses = ReturnType<typeof createNearMisses>;

interface Value {
  readonly written: string;
  /** In lower case. */
  readonly text: string;
  readonly label: string;
}

/**
 * A value changed in one place still has its first or its last half. So a word is looked up by the halves that it would
 * share with a value of each known length, and the matches are compared: the cost does not grow with the number of
 * values.
 */
export const createNearMisses = () => {
  const lengths = new Set<number>();
  const heads = new Map<string, Value[]>();
  const tails = new Map<string, Value[]>();
  /** Hashes of the first characters of first halves, and of the last characters of last halves; most words match none. */
  const begins = new Uint8Array(BUCKETS);
  const ends = new Uint8Array(BUCKETS);

  return {
    add: (value: string, label: string): void => {
      if (value.length < SHORTEST || !/^[\w-]+$/.test(value)) return;
      if (!lengths.has(value.length) && lengths.size >= MOST_LENGTHS) return;
      lengths.add(value.length);
      const text = value.toLowerCase();
      const half = halfOf(text.length);
      const entry = { written: value, text, label };
      put(heads, text.slice(0, half), entry);
      put(tails, text.slice(-half), entry);
      begins[hashAt(text, 0)] = 1;
      ends[hashAt(text, text.length - SHORTEST_HALF)] = 1;
    },
    /** Whether the word from `at` to `end` may nearly be a value. Quickly rules out most words. */
    mayBe: (text: string, at: number, end: number): boolean =>
      end - at >= LEAST_LENGTH &&
      (begins[hashAt(text, at)] === 1 || ends[hashAt(text, end - SHORTEST_HALF)] === 1),
    /** The value that the word nearly is, or contains, and its label. */
    find: (word: string): Pick<Value, "written" | "label"> | undefined => {
      if (word.length < LEAST_LENGTH || lengths.size === 0 || commonplace.has(word)) return undefined;
      const text = word.toLowerCase();
      for (const length of lengths) {
        const half = halfOf(length);
        if (text.length < half) continue;
        const alike = [...(heads.get(text.slice(0, half)) ?? []), ...(tails.get(text.slice(-half)) ?? [])];
        for (const value of alike) if (isNearly(text, value)) return value;
      }
      return undefined;
    },
    /** The label if the value may start anywhere in the word, as in decoded text. */
    findInside: (word: string): string | undefined => {
      const text = word.toLowerCase();
      const places: number[] = [];
      for (let at = 1; at + SHORTEST_HALF <= text.length; at += 1)
        if (begins[hashAt(text, at)] === 1) places.push(at);
      if (places.length === 0) return undefined;
      for (const length of lengths) {
        const half = halfOf(length);
        for (const at of places)
          for (const value of heads.get(text.slice(at, at + half)) ?? [])
            if (isNearly(text.slice(at), value)) return value.label;
      }
      return undefined;
    },
  };
};

const put = (halves: Map<string, Value[]>, half: string, value: Value): void => {
  const alike = halves.get(half);
  if (alike === undefined) halves.set(half, [value]);
  else if (alike.length < MOST_ALIKE) alike.push(value);
};

const isNearly = (text: string, value: Value): boolean =>
  sharedLength(text, value.text) >= TELLING * value.text.length;

/** Case-insensitive hash of the SHORTEST_HALF characters from `at`. */
const hashAt = (text: string, at: number): number => {
  let hash = 0;
  for (let next = at; next < at + SHORTEST_HALF; next += 1)
    hash = Math.imul(hash, 31) + (text.charCodeAt(next) | CASE_BIT);
  return hash & (BUCKETS - 1);
};

/** How many characters two words have in common at their start and end together. */
const sharedLength = (a: string, b: string): number => {
  const most = Math.min(a.length, b.length);
  let first = 0;
  while (first < most && a[first] === b[first]) first += 1;
  let last = 0;
  while (last < most && a[a.length - 1 - last] === b[b.length - 1 - last]) last += 1;
  return first + last;
};
