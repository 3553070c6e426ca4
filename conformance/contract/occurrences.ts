/** The shortest value that can be searched for, and how many characters are compared first. */
const GRAM = 4;
const BUCKETS = 1 << 16;
/** The farthest that the search can step. Longer steps would skip little more and enter more of each value. */
const LONGEST_STEP = 16;

interface Entry {
  readonly value: string;
  /** Where the gram is in the value. */
  readonly offset: number;
}

/**
 * Finds which of some values occur in a text. Each value is entered by the grams at as many of its places as the search
 * steps over, so one of them is met wherever the value is.
 */
export const createOccurrences = () => {
  let values: readonly string[] = [];
  let step = LONGEST_STEP;
  /** Values by a hash of each gram; the array quickly rules out most hashes. */
  const isTaken = new Uint8Array(BUCKETS);
  const byHash = new Map<number, Entry[]>();
  return {
    /** Adds a value of at least four characters. */
    add: (value: string): void => {
      if (values.includes(value)) return;
      values = [...values, value].toSorted((a, b) => b.length - a.length);
      step = Math.min(step, value.length - GRAM + 1);
      for (let offset = 0; offset < LONGEST_STEP && offset + GRAM <= value.length; offset += 1) {
        const hash = hashOfGram(value, offset);
        isTaken[hash] = 1;
        byHash.set(hash, [...(byHash.get(hash) ?? []), { value, offset }]);
      }
    },
    /** The values in the text, longest first. */
    of: (text: string): readonly string[] => {
      let found: Set<string> | undefined;
      for (let at = step - 1; at + GRAM <= text.length; at += step) {
        const hash = hashOfGram(text, at);
        if (isTaken[hash] === 0) continue;
        for (const { value, offset } of byHash.get(hash) ?? [])
          if (text.startsWith(value, at - offset)) (found ??= new Set()).add(value);
      }
      return found === undefined ? [] : values.filter((value) => found.has(value));
    },
  };
};

/** Hash of the low bytes of the four characters from `at`. */
const hashOfGram = (text: string, at: number): number => {
  let gram = 0;
  for (let next = at; next < at + GRAM; next += 1) gram = (gram << 8) | (text.charCodeAt(next) & 0xff);
  return Math.imul(gram, 0x9e3779b1) >>> 16;
};
