/** A load run that was asked for in a way that cannot be done or may not be done. Nothing has been sent yet. */
export class InvalidLoad extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "InvalidLoad";
  }
}
