/** A run directory that cannot be read, or not be trusted: exit code 2. Says where, why, and what to do. */
export class UnreadableRun extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnreadableRun";
  }
}
