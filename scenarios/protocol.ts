import type { ScenarioName } from "../conformance/contract/load-shape.ts";
import type { Stage } from "../conformance/contract/load-shape.ts";

/*
 * What the runner (Node) and the scripts (k6) tell each other. The runner writes the settings into
 * a file that only its owner may read and names it in the environment; the scripts answer through
 * k6's samples and, for what samples cannot carry, through lines on k6's log.
 */

/** Environment variable with the path of the settings file. */
export const settingsVariable = "TOUCHSTONE_SETTINGS";

export interface ScriptClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
}

/** An HTTP request that a script makes for a hook; strings may hold {{placeholders}}. */
export interface ScriptHook {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** JSON pointer to the value in the answer. */
  readonly result?: string;
}

export interface ScriptSettings {
  readonly scenario: ScenarioName;
  readonly baseUrl: string;
  readonly clients: readonly ScriptClient[];
  readonly headers: Readonly<Record<string, string>>;
  readonly authorize: {
    readonly headers: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
  };
  /** Absent where the target cannot be asked for events. */
  readonly trigger?: ScriptHook;
  /** Accounts that events are triggered for. */
  readonly accounts: readonly string[];
  readonly limits: {
    readonly defaultLimit: number;
    readonly defaultPage: number;
    readonly stateMaxBytes: number;
  };
  /** How long a new notification may stay out of the list. */
  readonly visibilityMs: number;
  readonly requestTimeoutMs: number;
  readonly stages: readonly Stage[];
  /** Iterations a second at the peak are rate / this: requests that one iteration makes on average. */
  readonly requestsPerIteration: number;
  readonly virtualUsers: { readonly allocated: number; readonly most: number };
  readonly gracefulStopMs: number;
  readonly seed: number;
  /** Keys the digests of issued credentials, so that they give nothing away. */
  readonly digestKey: string;
  /** One iteration by one virtual user, to look before any load. */
  readonly preflight: boolean;
}

/**
 * Names of the scripts' own metrics, as they stand in k6's samples.
 * - check: a look at a rule; tag `rule`; value 1. Breaches are counted by their own metric.
 * - breach: a broken rule; tag `rule`; value 1.
 * - issued: a code or token was issued; metadata `digest` (hexadecimal) and tag `what`.
 * - event: an event was triggered; metadata `notification` where its answer names it.
 * Schedule lag rides as metadata `lag` (milliseconds) on every sample of an iteration.
 */
export const metricNames = {
  check: "touchstone_check",
  breach: "touchstone_breach",
  issued: "touchstone_issued",
  event: "touchstone_event",
  lag: "touchstone_lag",
} as const;

/** A line that a script logs begins with this; JSON follows. */
export const logMark = "touchstone:";

/** What a script logs: a breach with its proof, or why a preflight cannot work. */
export type ScriptMessage =
  | {
      readonly kind: "breach";
      readonly rule: string;
      /** Milliseconds of the wall clock. */
      readonly atEpochMs: number;
      readonly expected: string;
      readonly actual: string;
      readonly exchanges: readonly {
        readonly method: string;
        readonly path: string;
        readonly requestBody?: string;
        readonly status: number;
        readonly answer: string;
        readonly durationMs: number;
      }[];
      /** Credentials in it, which the runner masks before anything is written. */
      readonly secrets: readonly string[];
    }
  | { readonly kind: "trouble"; readonly what: string };
