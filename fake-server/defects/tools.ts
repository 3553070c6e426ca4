export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The first record that a careless look-up takes for the presented text; text only. */
export const firstLike = <R>(
  records: ReadonlyMap<string, R>,
  presented: unknown,
  matches: (stored: string, presented: string) => boolean,
): R | undefined => {
  if (typeof presented !== "string") return undefined;
  for (const [stored, record] of records) if (matches(stored, presented)) return record;
  return undefined;
};

export const lastOf = <R>(records: ReadonlyMap<string, R>): R | undefined => [...records.values()].at(-1);

/** What a language that converts freely makes of a JSON value: an array of one string is that string. */
export const asText = (value: unknown): string =>
  Array.isArray(value) ? value.map(asText).join(",") : String(value);
