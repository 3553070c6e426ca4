/** Shorter values share half of themselves with too much that is no secret. */
const SHORTEST = 12;
/** This part of a value, from its beginning and its end together, gives it away. */
const TELLING = 0.75;
/** Values of so many lengths are looked for, and so many that share one half: enough for services as they are, and a bound for the others. */
const MOST_LENGTHS = 24;
const MOST_ALIKE = 4;

/** The greatest numbers of usual types, which probes send whatever is secret: nobody's secret is told by them. */
const commonplace = new Set(["9007199254740993", "18446744073709551616", "12345678901234567890123456789"]);

/** Finds words that are a known value but for a few characters: cut off, added, changed, or in another case. */
export interface NearMisses {
  add(value: string, label: string): void;
  /** The label of the value that the word is nearly, or holds. */
  find(word: string): string | undefined;
  /** The same where the value begins anywhere in the word, as in what an encoding was made of. */
  findInside(word: string): string | undefined;
}

interface Value {
  readonly text: string;
  readonly label: string;
}

/**
 * A value that was changed in one place still has its first half or its last. So a word is looked up by the halves that
 * it would share with a value of each known length, and what is found is compared: the cost does not grow with the number
 * of values.
 */
export const createNearMisses = (): NearMisses => {
  const lengths = new Set<number>();
  const byHalf = new Map<string, Value[]>();

  const put = (half: string, value: Value): void => {
    const alike = byHalf.get(half) ?? [];
    if (alike.length < MOST_ALIKE) byHalf.set(half, [...alike, value]);
  };

  const isNearly = (text: string, value: Value): boolean =>
    sharedLength(text, value.text) >= TELLING * value.text.length;

  return {
    add: (value, label) => {
      if (value.length < SHORTEST || !/^[\w-]+$/.test(value)) return;
      if (!lengths.has(value.length) && lengths.size >= MOST_LENGTHS) return;
      lengths.add(value.length);
      const text = value.toLowerCase();
      const half = halfOf(text.length);
      put(`^${text.slice(0, half)}`, { text, label });
      put(`$${text.slice(-half)}`, { text, label });
    },
    find: (word) => {
      if (word.length < SHORTEST * TELLING || lengths.size === 0 || commonplace.has(word)) return undefined;
      const text = word.toLowerCase();
      for (const length of lengths) {
        const half = halfOf(length);
        if (text.length < half) continue;
        for (const value of [
          ...(byHalf.get(`^${text.slice(0, half)}`) ?? []),
          ...(byHalf.get(`$${text.slice(-half)}`) ?? []),
        ])
          if (isNearly(text, value)) return value.label;
      }
      return undefined;
    },
    findInside: (word) => {
      const text = word.toLowerCase();
      for (const length of lengths) {
        const half = halfOf(length);
        for (let at = 1; at + half <= text.length; at += 1)
          for (const value of byHalf.get(`^${text.slice(at, at + half)}`) ?? [])
            if (isNearly(text.slice(at), value)) return value.label;
      }
      return undefined;
    },
  };
};

const halfOf = (length: number): number => Math.floor(length / 2);

/** How many characters two words have in common at their beginnings and at their ends. */
const sharedLength = (a: string, b: string): number => {
  const most = Math.min(a.length, b.length);
  let first = 0;
  while (first < most && a[first] === b[first]) first += 1;
  let last = 0;
  while (last < most && a[a.length - 1 - last] === b[b.length - 1 - last]) last += 1;
  return first + last;
};
