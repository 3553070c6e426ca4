/** The shortest value that can be searched for. */
const GRAM = 4;
const BUCKETS = 1 << 16;

/** Finds which of some values occur in a text, in one pass. */
export const createOccurrences = () => {
  let values: readonly string[] = [];
  /** Values by a hash of their first characters; the array quickly rules out most hashes. */
  const isTaken = new Uint8Array(BUCKETS);
  const byHash = new Map<number, string[]>();
  return {
    /** Adds a value of at least four characters. */
    add: (value: string): void => {
      if (values.includes(value)) return;
      values = [...values, value].toSorted((a, b) => b.length - a.length);
      const hash = hashOfFirst(value);
      isTaken[hash] = 1;
      byHash.set(hash, [...(byHash.get(hash) ?? []), value]);
    },
    /** The values in the text, longest first. */
    of: (text: string): readonly string[] => {
      let found: Set<string> | undefined;
      let gram = 0;
      for (let end = 0; end < text.length; end += 1) {
        gram = withNext(gram, text.charCodeAt(end));
        const hash = hashOf(gram);
        if (isTaken[hash] === 0 || end < GRAM - 1) continue;
        for (const value of byHash.get(hash) ?? [])
          if (text.startsWith(value, end - (GRAM - 1))) (found ??= new Set()).add(value);
      }
      return found === undefined ? [] : values.filter((value) => found.has(value));
    },
  };
};

/** The low bytes of the last four characters in one number. */
const withNext = (gram: number, code: number): number => (gram << 8) | (code & 0xff);

const hashOf = (gram: number): number => Math.imul(gram, 0x9e3779b1) >>> 16;

const hashOfFirst = (value: string): number => {
  let gram = 0;
  for (let at = 0; at < GRAM; at += 1) gram = withNext(gram, value.charCodeAt(at));
  return hashOf(gram);
};
