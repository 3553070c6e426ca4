/** Wall clock in whole milliseconds since 1970, k6's finest resolution. */
export const epochMs = (): number => Date.now();
