import type { PushLine } from "../../conformance/contract/push.ts";
import { sampler, type Sampled } from "./sampled.ts";

export type SeenPush = Extract<PushLine, { readonly kind: "push" }>;

export interface PushDigest {
  readonly pushes: number;
  readonly notifications: number;
  /** Number of notifications by push count; the first entry is for one push. */
  readonly attempts: readonly number[];
  /** Pushes by the receiver's answer: a status, or a word such as hang. */
  readonly answers: readonly (readonly [answer: string, count: number])[];
  readonly others: number;
  readonly sample: Sampled<SeenPush>;
}

const SHOWN = 6;

/**
 * Counts the lines of a journal as they arrive; memory grows only with the number of notifications. Undefined without
 * pushes.
 */
export const digestPushes = async (lines: AsyncIterable<PushLine>): Promise<PushDigest | undefined> => {
  const attempts = new Map<string, number>();
  const answers = new Map<string, number>();
  const sample = sampler<SeenPush>(SHOWN, 0);
  let [pushes, others] = [0, 0];
  for await (const line of lines) {
    if (line.kind !== "push") continue;
    if (line.attempt === 0) {
      others += 1;
      continue;
    }
    sample.add(line);
    pushes += 1;
    const id = line.notificationId ?? `without an id ${line.n}`;
    attempts.set(id, Math.max(attempts.get(id) ?? 0, line.attempt));
    const answer = line.status === undefined ? line.action : String(line.status);
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  }
  if (pushes === 0) return undefined;
  return {
    pushes,
    notifications: attempts.size,
    attempts: tally([...attempts.values()]),
    answers: [...answers].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    others,
    sample: sample.sampled(),
  };
};

const tally = (numbers: readonly number[]): readonly number[] => {
  const counts: number[] = [];
  for (const number of numbers) counts[number - 1] = (counts[number - 1] ?? 0) + 1;
  return Array.from(counts, (count) => count ?? 0);
};
