import type { RequirementId } from "../conformance/contract/catalogue.ts";
import type { ScenarioName } from "../conformance/contract/load-shape.ts";
import type { Stage } from "../conformance/contract/load-shape.ts";

/*
 * What the runner (Node) and the scripts (k6) tell each other. The runner writes the settings into
 * a file that only its owner may read and names it in the environment; the scripts answer through
 * k6's samples and, for what samples cannot carry, through lines on k6's log.
 */

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

export interface ScriptSegment {
  /** From 1. */
  readonly index: number;
  readonly count: number;
  /** When all segments begin, in milliseconds of the wall clock. */
  readonly startAtMs: number;
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
  /** The only accounts that events may be triggered for; empty where any UUID is an account. */
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
  /** How often visits of `mixed` begin in each way, where that is not the usual. */
  readonly visitWeights: Readonly<Partial<Record<"authorize" | "refresh" | "resume", number>>>;
  readonly virtualUsers: { readonly allocated: number; readonly most: number };
  readonly gracefulStopMs: number;
  readonly seed: number;
  /** The part of the load that this k6 plays, where others play the rest of it at the same time. */
  readonly segment?: ScriptSegment;
  /** Another in every run, and the same in all segments of one. Keys the digests of issued credentials, and makes accounts that no other run has written to. */
  readonly digestKey: string;
  /** One iteration by one virtual user, before any load. */
  readonly preflight: boolean;
}

/**
 * Names of the scripts' own metrics, as they appear in k6's samples.
 * - check: checks of a rule in one iteration; tag `rule`; the value is their number, broken ones included.
 * - breach: a broken rule; tag `rule`; value 1.
 * - issued: a code or token was issued; tag `what` (a key of `issuedRules`), metadata `digest` (16 hexadecimal digits).
 * - event: an event was triggered and acknowledged; metadata `sentAt` (wall clock in milliseconds, before the
 *   request) and `notification` where the hook told the id.
 * - arrival: an iteration has begun, at this moment; the value is its schedule lag in milliseconds.
 * - start: when the load began by k6's own account (wall clock in milliseconds); told by the first iteration of each virtual user.
 * Requests of the set-up, before the load begins, have the name `setUpName` and are no part of the load.
 * Schedule lag rides as metadata `lag` (milliseconds, to a tenth, never negative) on every sample of an iteration.
 */
export const metricNames = {
  check: "touchstone_check",
  breach: "touchstone_breach",
  issued: "touchstone_issued",
  event: "touchstone_event",
  arrival: "touchstone_arrival",
  start: "touchstone_start",
} as const;

/** The `name` tag of requests before the load begins. */
export const setUpName = "setup";

/** What may be issued, and the rule that is broken where the same one is issued twice. */
export const issuedRules = {
  code: "authorize.code-is-fresh",
  accessToken: "exchange.tokens-are-fresh",
  refreshToken: "exchange.tokens-are-fresh",
} as const satisfies Readonly<Record<string, RequirementId>>;
export type Issued = keyof typeof issuedRules;

export const issuedNames: Readonly<Record<Issued, string>> = {
  code: "code",
  accessToken: "access token",
  refreshToken: "refresh token",
};

/** A line that a script logs begins with this; JSON follows. */
export const logMark = "touchstone:";

export type ScriptMessage =
  | {
      readonly kind: "breach";
      readonly rule: RequirementId;
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
  | { readonly kind: "trouble"; readonly what: string }
  /** The set-up of a segment is done; `lateMs` is positive where the start is over by then, and there is no load. */
  | { readonly kind: "set-up"; readonly tookMs: number; readonly lateMs: number };
