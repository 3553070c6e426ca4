import { ConfigurationError } from "../../../conformance/contract/problem.ts";

export const k6Missing = (tried: readonly Attempt[]): ConfigurationError =>
  new ConfigurationError([
    "no k6 (1.0 or later) was found, and none could be installed:",
    ...tried.map(({ where, outcome }) => `  ${where}: ${outcome}`),
    "Install k6 (https://grafana.com/docs/k6/latest/set-up/install-k6/) so that it is on PATH, or name it in TOUCHSTONE_K6; with Go on PATH, Touchstone builds one itself.",
  ]);

/** A place searched for k6, or a way tried to install it, and the result. */
export interface Attempt {
  readonly where: string;
  readonly outcome: string;
}

/** k6 could not be started or read: a failure of the harness or of this machine. */
export class K6Failed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "K6Failed";
  }
}
