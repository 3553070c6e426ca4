import type { RequirementId } from "../conformance/contract/catalogue.ts";
import type { ScenarioName } from "../conformance/contract/load-shape.ts";

/** A stretch in absolute numbers: rates in arrivals per second, times in milliseconds since the start of the load. */
export interface Stage {
  readonly startMs: number;
  readonly durationMs: number;
  readonly fromRate: number;
  readonly toRate: number;
}

/*
 * The protocol between the runner (Node) and the scripts (k6). The runner writes the settings to a file readable only
 * by its owner, and names it in the environment. The scripts answer through k6's samples and, for what samples cannot
 * carry, through lines on k6's log.
 */

export const settingsVariable = "TOUCHSTONE_SETTINGS";

export interface ScriptClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
}

/** An HTTP request of a script for a hook; strings may hold {{placeholders}}. */
export interface ScriptHook {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** JSON pointer to the value in the answer. */
  readonly result?: string;
}

export interface ScriptSegment {
  /** Starts at 1. */
  readonly index: number;
  readonly count: number;
  /** Common start of all segments, in wall-clock milliseconds. */
  readonly startAtMs: number;
}

export interface ScriptSettings {
  readonly scenario: ScenarioName;
  readonly baseUrl: string;
  readonly clients: readonly ScriptClient[];
  readonly headers: Readonly<Record<string, string>>;
  /** What the service asks its clients for, in PEM; the key is not encrypted, because k6 cannot read every such key. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
  readonly authorize: {
    readonly headers: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
  };
  /** Absent if the target has no event hook. */
  readonly trigger?: ScriptHook;
  /** The only accounts that events may be triggered for; if empty, any UUID is an account. */
  readonly accounts: readonly string[];
  readonly limits: {
    readonly defaultLimit: number;
    readonly defaultPage: number;
    readonly stateMaxBytes: number;
    readonly codeLifetimeMs: number;
    readonly refreshTokenLifetimeMs: number;
  };
  /** How long a new notification may be missing from the list. */
  readonly visibilityMs: number;
  readonly requestTimeoutMs: number;
  readonly stages: readonly Stage[];
  /** How often visits of `mixed` start each way, if not the default. */
  readonly visitWeights: Readonly<Partial<Record<"authorize" | "refresh" | "resume", number>>>;
  readonly virtualUsers: { readonly allocated: number; readonly most: number };
  readonly gracefulStopMs: number;
  readonly seed: number;
  /** The part of the load that this k6 plays while others play the rest. */
  readonly segment?: ScriptSegment;
  /**
   * Different in every run, and the same in all its segments. Keys the digests of issued credentials, and generates
   * accounts that no other run has written to.
   */
  readonly digestKey: string;
  /** One iteration by one virtual user, before any load. */
  readonly preflight: boolean;
}

/**
 * Names of the scripts' own metrics, as they appear in k6's samples.
 * - check: checks of a rule in one iteration; tag `rule`; the value is their number, including broken ones.
 * - breach: a broken rule; tag `rule`; value 1.
 * - issued: a code or token was issued; tag `what` (a key of `issuedRules`), metadata `digest` (16
 * hexadecimal digits).
 * - event: an event was triggered and acknowledged; metadata `sentAt` (wall clock in milliseconds, before the
 * request) and `notification` if the hook returned the id.
 * - arrival: an iteration has begun; the value is its schedule lag in milliseconds.
 * - request: a request has ended; tags `endpoint`, `outcome` (of `sampleOutcomes`, or `unsent`) and, unless it was
 * granted or refused, `cause`; the value is its duration, metadata `blocked` the time that it waited for a connection
 * and `lag` how late its iteration began (milliseconds). Requests of the set-up, before the load, are not reported.
 * - start: when the load began according to k6 (wall clock in milliseconds), from each virtual user's first
 * iteration.
 */
export const metricNames = {
  check: "touchstone_check",
  breach: "touchstone_breach",
  issued: "touchstone_issued",
  event: "touchstone_event",
  arrival: "touchstone_arrival",
  request: "touchstone_request",
  start: "touchstone_start",
} as const;

/** Kinds of issued credentials, and the rule broken if the same one is issued twice. */
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

/** Prefix of a script's log lines; JSON follows. */
export const logMark = "touchstone:";

/** The preflight's trouble if the target answered nothing at all. */
export const noAnswer = {
  say: (reason: string): string => `no request was answered (${reason})`,
  /** The reason in such a trouble; undefined if it is another one. */
  reasonIn: (trouble: string): string | undefined => /^no request was answered \((.*)\)$/s.exec(trouble)?.[1],
};

export type ScriptMessage =
  | {
      readonly kind: "breach";
      readonly rule: RequirementId;
      /** Wall-clock milliseconds. */
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
      /** Credentials in the message, which the runner masks before anything is written. */
      readonly secrets: readonly string[];
    }
  | { readonly kind: "trouble"; readonly what: string }
  /** A segment's set-up is done; if `lateMs` is positive, the start has passed and there is no load. */
  | { readonly kind: "set-up"; readonly tookMs: number; readonly lateMs: number };
