export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const units = [
  ["d", DAY_MS],
  ["h", HOUR_MS],
  ["min", MINUTE_MS],
  ["s", SECOND_MS],
] as const;

/** A duration for people, exact to the millisecond: 90061001 gives "1 d 1 h 1 min 1.001 s". */
export const duration = (durationMs: number): string => {
  if (Number.isNaN(durationMs)) return "an unknown time";
  if (!Number.isFinite(durationMs)) return "for ever";
  let leftMs = Math.max(0, Math.round(durationMs));
  if (leftMs < 1_000) return `${leftMs} ms`;
  const parts: string[] = [];
  for (const [unit, unitMs] of units) {
    const amount = unit === "s" ? leftMs / unitMs : Math.floor(leftMs / unitMs);
    if (amount > 0) parts.push(`${amount} ${unit}`);
    leftMs -= amount * unitMs;
  }
  return parts.join(" ");
};

/** A duration as flags take it, such as 30s or 1500ms. */
export const durationAsFlag = (durationMs: number): string =>
  durationMs % SECOND_MS === 0 ? `${durationMs / SECOND_MS}s` : `${durationMs}ms`;

const accepted = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
const factors = { ms: 1, s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;

/** Parses a duration such as 500ms, 90s, 20m, 2h or 30d into milliseconds; undefined if it is not one. */
export const parseDuration = (text: string): number | undefined => {
  const [, amount, unit] = accepted.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * factors[unit as keyof typeof factors];
};

/** Whether a text is a day of the calendar, as YYYY-MM-DD. */
export const isDay = (text: string): boolean => {
  const day = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : Number.NaN);
  // A day that its month lacks would be one of the next month.
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};
