import { readFileSync } from "node:fs";

interface JournalLine {
  readonly kind: string;
  readonly notificationId?: string;
  readonly action?: string;
  readonly outcome?: string;
  readonly firstByteMs: number;
  readonly answeredMs?: number;
}

/**
 * How long after their delay the retries came, from the answer to one push to the next one, in milliseconds: the median,
 * and what nine in ten kept to. The rest may have fallen into an outage that the run made.
 */
export const latenessOf = (
  journal: string,
  delaysMs: readonly number[],
): readonly [number, number] | undefined => {
  const pushes = readFileSync(journal, "utf8")
    .split("\n")
    .filter((line) => line.startsWith('{"kind":"push"'))
    .map((line) => JSON.parse(line) as JournalLine)
    .toSorted((one, other) => one.firstByteMs - other.firstByteMs);
  const late: number[] = [];
  for (const ofOne of Map.groupBy(pushes, ({ notificationId }) => notificationId).values())
    for (const [at, delayMs] of delaysMs.entries()) {
      const [failed, next] = ofOne.slice(at, at + 2);
      if (next === undefined || failed?.outcome !== "sent" || failed.action !== "answer") continue;
      late.push(next.firstByteMs - (failed.answeredMs ?? 0) - delayMs);
    }
  const sorted = late.toSorted((one, other) => one - other);
  const [median, most] = [sorted[Math.floor(sorted.length / 2)], sorted[Math.floor(sorted.length * 0.9)]];
  return median === undefined || most === undefined ? undefined : [median, most];
};
