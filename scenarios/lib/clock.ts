/** The wall clock, in whole milliseconds since 1970: k6 has no finer one. */
export const epochMs = (): number => Date.now();
