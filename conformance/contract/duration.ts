const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** A stretch of time as people write it, exact to the millisecond: 90061001 gives "1 d 1 h 1 min 1.001 s". */
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

const accepted = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
const factors = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a written duration such as 500ms, 90s, 20m, 2h or 30d; undefined where it is none. */
export const parseDuration = (text: string): number | undefined => {
  const [, amount, unit] = accepted.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * factors[unit as keyof typeof factors];
};
