/** The interval that a moment is known to lie in, in milliseconds on the scale of one clock. */
export interface TimeInterval {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** The same interval later by so many milliseconds. */
export const shift = ({ earliestMs, latestMs }: TimeInterval, byMs: number): TimeInterval => ({
  earliestMs: earliestMs + byMs,
  latestMs: latestMs + byMs,
});

/** The least and the greatest age, in milliseconds, that what was issued in one interval can have in another. */
export const ageBetween = (
  issued: TimeInterval,
  probed: TimeInterval,
): { readonly leastMs: number; readonly greatestMs: number } => ({
  leastMs: Math.max(0, probed.earliestMs - issued.latestMs),
  greatestMs: probed.latestMs - issued.earliestMs,
});
