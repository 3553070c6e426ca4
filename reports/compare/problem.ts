/** Runs that cannot be compared, or not with one another: exit code 2. Says which part differs. */
export class IncomparableRuns extends Error {
  constructor(message: string) {
    super(message);
    this.name = "IncomparableRuns";
  }
}
