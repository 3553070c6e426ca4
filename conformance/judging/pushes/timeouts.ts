import { duration } from "../../contract/duration.ts";

/**
 * Upper ends of the classes of sender timeouts, in thirtieths of the first delay (seconds, by the document).
 * They lie between common timeout values.
 */
export const timeoutEnds = [1.5, 3.5, 7, 12.5, 17.5, 24, 45, 90] as const;

const names = [
  "about 1 s",
  "2 to 3 s",
  "about 5 s",
  "about 10 s",
  "about 15 s",
  "about 20 s",
  "about 30 s",
  "about 60 s",
] as const;

/** The class of a timeout. If the first delay is not the document's, classes scale with it and are named by their ends. */
export const timeoutClass = (waitedMs: number, firstDelayMs: number): string => {
  const thirtiethMs = firstDelayMs / 30;
  const index = timeoutEnds.findIndex((end) => waitedMs <= end * thirtiethMs);
  if (firstDelayMs === 30_000) return names[index] ?? "longer than 90 s";
  const endMs = (at: number): number => Math.round((timeoutEnds[at] ?? 0) * thirtiethMs);
  return index < 0
    ? `longer than ${duration(endMs(timeoutEnds.length - 1))}`
    : `${index === 0 ? "up to" : `${duration(endMs(index - 1))} to`} ${duration(endMs(index))}`;
};
