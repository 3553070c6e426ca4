import type { Exchange } from "./exchange.ts";

/** A step of the preflight that did not bring what the scenario needs. */
export interface Failure {
  /** What did not come, such as "the list gave clients[0] (c) no page". */
  readonly what: string;
  readonly answer: Exchange;
  /** Where the cause is to be looked for, if the answer is a refusal. */
  readonly remedy?: string;
  /** Set if a refusal, too, may be of the moment, because something may not be there yet or no more. */
  readonly mayPass?: boolean;
}

/** Whether the answer may be of the moment: a restart, a limit, a gateway whose service is away. */
const isPassing = ({ answer: { status }, mayPass = false }: Failure): boolean =>
  mayPass || status === 0 || status === 429 || status >= 500;

const MOST_TRIES = 3;

/** Tries again, after a pause, while the failure may pass: one lost answer is no reason to play no load. */
export const inSomeTries = (
  attempt: () => Failure | undefined,
  pause: (afterTry: number) => void,
): Failure | undefined => {
  for (let number = 1; ; number += 1) {
    const failure = attempt();
    if (failure === undefined || !isPassing(failure) || number === MOST_TRIES) return failure;
    pause(number);
  }
};

/** What went wrong, and what to do about it; `quote` shows an answer. */
export const failureText = (failure: Failure, quote: (answer: Exchange) => string): string => {
  const { what, answer, remedy } = failure;
  const { status } = answer;
  if (!isPassing(failure)) return `${what}: ${quote(answer)}${remedy === undefined ? "" : `. ${remedy}`}`;
  const cause =
    status === 0
      ? "The service, or what is in front of it, ends connections or does not answer in time"
      : status === 429
        ? "The service, or a gateway, limits how much this machine may send: allow more, or wait"
        : status >= 500
          ? "The service, or a gateway in front of it, is failing: wait until it answers"
          : remedy;
  return `${what} in ${MOST_TRIES} tries, the last time: ${quote(answer)}${cause === undefined ? "" : `. ${cause}`}`;
};
