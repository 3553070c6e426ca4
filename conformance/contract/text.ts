/** The message of an error; anything else that was thrown, as text. */
export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** "1 request", "3 requests". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** The first `most` characters, followed by the number of further ones. */
export const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} characters more)`;

const LONGEST_RUN = 24;
const run = new RegExp(`(.)\\1{${LONGEST_RUN},}`, "gsu");

/** Writes what repeats one character many times by its length: "aaa… (128 times)". */
export const withoutRuns = (text: string): string =>
  text.replaceAll(run, (whole, one: string) => `${one.repeat(3)}… (${whole.length / one.length} times)`);

/** The values in order, in groups of `size`; the last may be smaller. */
export const inGroups = <T>(values: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, group) =>
    values.slice(group * size, (group + 1) * size),
  );

/** Names of inputs that were sent in turn, if it is not known which of them mattered. */
export const inTurn = (names: string, sent: readonly unknown[]): string =>
  sent.length === 1 ? names : `${names}, one after another`;

const credentialCharacter = /[A-Za-z0-9._~+/=%-]/;
/** Longer than any credential: text beyond this is filler and may be cut anywhere. */
const LONGEST_CREDENTIAL = 4_096;

/**
 * The beginning of a text, at most `most` characters, with an ellipsis if anything was left out. Never ends inside a
 * word: half a credential would not be recognized and masked.
 */
export const shorten = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const least = Math.max(0, most - LONGEST_CREDENTIAL);
  let end = most;
  while (end > least && credentialCharacter.test(text.charAt(end - 1))) end -= 1;
  return `${text.slice(0, end)}…`;
};

/** The path in the target of a request, which may also be the whole address (RFC 9112 section 3.2.2). */
export const pathIn = (target: string): string =>
  target.replace(/^https?:\/\/[^/?]*/i, "").replace(/\?.*$/s, "");

/** Whether requests to a host, by name or address, never leave this machine. An address may be in brackets. */
export const isLoopback = (host: string): boolean =>
  /^(?:localhost|\[::1\]|::1|127(?:\.\d{1,3}){3})$/.test(host);

/** The known names most similar to a misspelt one, by shared letter pairs (Dice's coefficient). */
export const nearest = (name: string, known: readonly string[], most = 3): readonly string[] =>
  known
    .map((candidate) => ({ candidate, likeness: dice(name, candidate) }))
    .toSorted((a, b) => b.likeness - a.likeness)
    .slice(0, most)
    .map(({ candidate }) => candidate);

const pairs = (text: string): Set<string> =>
  new Set(
    Array.from({ length: Math.max(0, text.length - 1) }, (_, index) =>
      text.slice(index, index + 2).toLowerCase(),
    ),
  );

/** From 0 (no letter pair in common) to 1. */
export const dice = (a: string, b: string): number => {
  const [left, right] = [pairs(a), pairs(b)];
  const shared = [...left].filter((pair) => right.has(pair)).length;
  return (2 * shared) / Math.max(1, left.size + right.size);
};
