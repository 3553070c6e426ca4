import type { PushLine } from "../../conformance/contract/push.ts";
import { sampler, type Sampled } from "./sampled.ts";

export type SeenPush = Extract<PushLine, { readonly kind: "push" }>;

export interface PushDigest {
  readonly pushes: number;
  readonly notifications: number;
  /** How many notifications were pushed so often; the first entry is for one push. */
  readonly attempts: readonly number[];
  /** Pushes by what was done with them: a status, or a word such as hang. */
  readonly answers: readonly (readonly [answer: string, count: number])[];
  readonly others: number;
  /** Pushes by bucket of the receiver's time, the first of them at its start. */
  readonly course: { readonly bucketMs: number; readonly counts: readonly number[] };
  readonly sample: Sampled<SeenPush>;
}

const SHOWN = 6;
const BUCKETS = 240;

/** Counts the lines of a journal as they come; memory grows with the notifications alone. Undefined where no push came. */
export const digestPushes = async (lines: AsyncIterable<PushLine>): Promise<PushDigest | undefined> => {
  const attempts = new Map<string, number>();
  const answers = new Map<string, number>();
  const times: number[] = [];
  const sample = sampler<SeenPush>(SHOWN, 0);
  let others = 0;
  for await (const line of lines) {
    if (line.kind !== "push") continue;
    if (line.attempt === 0) {
      others += 1;
      continue;
    }
    sample.add(line);
    times.push(line.firstByteMs);
    const id = line.notificationId ?? `without an id ${line.n}`;
    attempts.set(id, Math.max(attempts.get(id) ?? 0, line.attempt));
    const answer = line.status === undefined ? line.action : String(line.status);
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  }
  if (times.length === 0) return undefined;
  return {
    pushes: times.length,
    notifications: attempts.size,
    attempts: tally([...attempts.values()]),
    answers: [...answers].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    others,
    course: courseOf(times),
    sample: sample.sampled(),
  };
};

const tally = (numbers: readonly number[]): readonly number[] => {
  const counts: number[] = [];
  for (const number of numbers) counts[number - 1] = (counts[number - 1] ?? 0) + 1;
  return Array.from(counts, (count) => count ?? 0);
};

const courseOf = (times: readonly number[]): PushDigest["course"] => {
  let [firstMs, lastMs] = [Infinity, -Infinity];
  for (const ms of times) {
    firstMs = Math.min(firstMs, ms);
    lastMs = Math.max(lastMs, ms);
  }
  const bucketMs = Math.max(1, (lastMs - firstMs) / BUCKETS);
  const counts = Array.from({ length: BUCKETS }, () => 0);
  for (const ms of times) {
    const at = Math.min(BUCKETS - 1, Math.floor((ms - firstMs) / bucketMs));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return { bucketMs, counts };
};
