/** A port that another process listens on. */
export class PortInUse extends Error {
  override readonly name = "PortInUse";
  constructor(port: number) {
    super(`Port ${port} is in use. Choose another one, or 0 for any free port.`);
  }
}

/** A certificate, key or folder for them that cannot be used. */
export class InvalidCertificate extends Error {
  override readonly name = "InvalidCertificate";
}

/** A plan that cannot be followed; every line of the message names the key, the value and what is accepted. */
export class InvalidPlan extends Error {
  override readonly name = "InvalidPlan";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** An option of the receiver that cannot be used. */
export class InvalidReceiver extends Error {
  override readonly name = "InvalidReceiver";
}

/** A journal that cannot be opened, or that another receiver writes. */
export class InvalidJournal extends Error {
  override readonly name = "InvalidJournal";
}

export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
};
