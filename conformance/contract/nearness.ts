/** How a value that a probe sent differs from a secret, so that it can be made again from another one. Reveals neither. */
export interface Nearness {
  /** Where it begins to differ, counted from the first character. */
  readonly start?: number;
  /** The same, counted from the end: 1 is the last character, 0 is after it. */
  readonly end?: number;
  /** How many characters of the secret are left out there. */
  readonly drop?: number;
  /** The character put there instead. */
  readonly put?: string;
  /** What is done instead: to the case of the whole secret, to that of the character there, or to the two characters there. */
  readonly to?: "upper case" | "lower case" | "other case" | "exchanged";
}

/** How a word is made from an exact value, if by one change that does not reveal what the value is. */
export const nearnessOf = (word: string, exact: string): Nearness | undefined => {
  if (word === exact) return undefined;
  const first = shared(word, exact, (text, at) => text[at]);
  const rest = Math.min(word.length, exact.length) - first;
  const last = Math.min(
    rest,
    shared(word, exact, (text, at) => text.at(-1 - at)),
  );
  const [put, left] = [word.slice(first, word.length - last), exact.slice(first, exact.length - last)];
  const place = first < exact.length / 2 ? { start: first } : { end: exact.length - first };
  if (put.length === 1 && put.toLowerCase() === left.toLowerCase()) return { ...place, to: "other case" };
  if (put.length === 2 && put === Array.from(left).toReversed().join(""))
    return { ...place, to: "exchanged" };
  if (put.length <= 1)
    return { ...place, ...(left !== "" && { drop: left.length }), ...(put !== "" && { put }) };
  if (word === exact.toUpperCase()) return { to: "upper case" };
  return word === exact.toLowerCase() ? { to: "lower case" } : undefined;
};

/** How many characters of two texts agree, one after another. */
const shared = (
  a: string,
  b: string,
  characterOf: (text: string, at: number) => string | undefined,
): number => {
  let count = 0;
  while (count < Math.min(a.length, b.length) && characterOf(a, count) === characterOf(b, count)) count += 1;
  return count;
};
