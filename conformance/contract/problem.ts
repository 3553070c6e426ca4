export interface Problem {
  /** The flag, or the key of the profile. */
  readonly key: string;
  readonly value: string;
  readonly accepted: string;
  /** What to do, if that does not follow from `accepted`. */
  readonly remedy?: string;
}

/**
 * A mistake of the user: exit code 2. A problem that is not a wrong value of one key is a sentence that says what is
 * wrong and what to do.
 */
export class ConfigurationError extends Error {
  override readonly name: string = "ConfigurationError";
  readonly problems: readonly string[];
  constructor(problems: string | readonly (string | Problem)[], options?: ErrorOptions) {
    const sentences = (typeof problems === "string" ? [problems] : problems).map(sentenceOf);
    super(sentences.join("\n"), options);
    this.problems = sentences;
  }
}

const sentenceOf = (problem: string | Problem): string => {
  if (typeof problem === "string") return problem;
  const { key, value, accepted, remedy } = problem;
  return `${key} is "${value}"; accepted is ${accepted}${remedy === undefined ? "" : `; ${remedy}`}`;
};

/** Turns an error of listening that the user can fix into a ConfigurationError; returns others unchanged. */
export const listenError = (error: unknown, host: string, port: number): unknown => {
  const isKnown = error instanceof Error && "code" in error;
  if (!isKnown) return error;
  switch (error.code) {
    case "EADDRINUSE":
      return new ConfigurationError(`Port ${port} is in use; give another one, or 0 for any free port`);
    case "EACCES":
      return new ConfigurationError(
        `port ${port} needs privileges that this user lacks; give one of 1024 or above`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new ConfigurationError(
        `host "${host}" is not an address of this machine (${error.code}); listen on 127.0.0.1, 0.0.0.0 or one of its own addresses, and give the name that senders use as the public host`,
      );
    default:
      return error;
  }
};

/** The target cannot be reached at all: exit code 4. */
export class UnreachableError extends Error {
  /** The run directory that records it, if a run had started. */
  record: string | undefined;
  override readonly name = "UnreachableError";
}

/**
 * The record of a run could not be completed, for example because the disk is full. Carries the record, so the outcome
 * is not lost.
 */
export class UnfinishedRecord<Record> extends Error {
  readonly directory: string;
  readonly record: Record;
  constructor(
    { directory, record }: { readonly directory: string; readonly record: Record },
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`the record in ${directory} could not be completed: ${reason}`, options);
    this.name = "UnfinishedRecord";
    this.directory = directory;
    this.record = record;
  }
}
