import type { TimeInterval } from "../judging/interval.ts";
import type { Limits } from "../contract/limits.ts";
import { ageAt, sideOf, type Issued, type IssuingClock, type Side } from "../judging/lifetimes/probe.ts";

/** The states of sections 3.1, 3.2 and 5.1 that the histories of a run must reach. */
export const states = [
  "code issued",
  "code used",
  "code expired",
  "refresh token valid",
  "refresh token invalid",
  "access token live",
  "access token dead",
] as const;
export type State = (typeof states)[number];

/** An authorization code (section 3.1). */
export interface CodeState extends Issued {
  readonly value: string;
  readonly client: number;
  used: boolean;
  /** A refused attempt has named it. Whether that burns a code is not shown, so nothing more is expected of it. */
  doubtful: boolean;
  /** What its exchange yielded. */
  grant: GrantState | undefined;
}

/** A refresh token (section 3.2). */
export interface GrantState extends Issued {
  readonly refreshToken: string;
  readonly client: number;
  /** Its code was presented again, which may make a service revoke it (RFC 6749 section 4.1.2). */
  doubtful: boolean;
}

/** An access token (sections 2.2 and 5.1). */
export interface AccessState extends Issued {
  readonly value: string;
  readonly grant: GrantState;
  /** A refresh came after it; whether it still works is not shown. */
  doubtful: boolean;
}

/** A notification of an event that the history triggered (section 6). */
export interface EventState {
  readonly id: string | undefined;
  readonly triggered: TimeInterval;
}

/** The service as the document describes it, as far as one history knows. Commands change it; it does no I/O. */
export interface Model {
  readonly limits: Limits;
  readonly guardMs: number;
  readonly clock: IssuingClock;
  /** The latest reading of the service's clock. */
  now: TimeInterval;
  /** How much longer the history may wait, in milliseconds. */
  leftToWaitMs: number;
  readonly codes: CodeState[];
  readonly grants: GrantState[];
  readonly accesses: AccessState[];
  readonly events: EventState[];
  /** What was last waited for; the next command finds it in front. */
  focus: CodeState | GrantState | AccessState | undefined;
  /** The states that decisions depended on, one entry per decision. */
  readonly decided: State[];
  /** Decisions that depend on no state: authorizations, wrong secrets, pages of notifications. */
  otherDecisions: number;
}

export const newModel = (
  known: Pick<Model, "limits" | "guardMs" | "clock" | "now" | "leftToWaitMs">,
): Model => ({
  ...known,
  codes: [],
  grants: [],
  accesses: [],
  events: [],
  focus: undefined,
  decided: [],
  otherDecisions: 0,
});

/** What the document says about a request: it must succeed, must be refused, or may do either. */
export type Expectation =
  | { readonly outcome: "yield"; readonly state: State }
  | { readonly outcome: "refusal"; readonly state: State }
  | { readonly outcome: "either" };

const either: Expectation = { outcome: "either" };

const sideIn = ({ guardMs, clock }: Model, issued: Issued, at: TimeInterval): Side | undefined =>
  sideOf(ageAt(issued, at, guardMs, clock));

/** The expected outcome of exchanging the code with the right secret. */
export const ofExchange = (model: Model, code: CodeState, at: TimeInterval): Expectation => {
  if (code.used) return { outcome: "refusal", state: "code used" };
  const side = sideIn(model, code, at);
  if (side === "dead") return { outcome: "refusal", state: "code expired" };
  return side === "alive" && !code.doubtful ? { outcome: "yield", state: "code issued" } : either;
};

export const ofRefresh = (model: Model, grant: GrantState, at: TimeInterval): Expectation => {
  const side = sideIn(model, grant, at);
  if (side === "dead") return { outcome: "refusal", state: "refresh token invalid" };
  return side === "alive" && !grant.doubtful ? { outcome: "yield", state: "refresh token valid" } : either;
};

export const ofList = (model: Model, access: AccessState, at: TimeInterval): Expectation => {
  const side = sideIn(model, access, at);
  if (side === "dead") return { outcome: "refusal", state: "access token dead" };
  return side === "alive" && !access.doubtful && !access.grant.doubtful
    ? { outcome: "yield", state: "access token live" }
    : either;
};

/** Tokens from an answer; `lifetimeMs` is expiresIn in milliseconds, NaN if it is not a number. */
export interface GivenTokens extends Pick<AccessState, "lifetimeMs" | "cutMs"> {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** An authorization issued a code (section 3.1: the state "issued"). */
export const codeIssued = (model: Model, value: string, client: number, issued: TimeInterval): CodeState => {
  const code: CodeState = {
    value,
    client,
    issued,
    lifetimeMs: model.limits.codeLifetimeMs,
    used: false,
    doubtful: false,
    grant: undefined,
  };
  model.codes.push(code);
  return code;
};

/** An exchange issued tokens (section 3.1: "issued" to "used"). */
export const codeUsed = (model: Model, code: CodeState, tokens: GivenTokens, issued: TimeInterval): void => {
  const grant: GrantState = {
    refreshToken: tokens.refreshToken,
    client: code.client,
    issued,
    lifetimeMs: model.limits.refreshTokenLifetimeMs,
    doubtful: model.grants.some(({ refreshToken }) => refreshToken === tokens.refreshToken),
  };
  code.used = true;
  code.grant = grant;
  model.grants.push(grant);
  accessIssued(model, grant, tokens, issued);
};

/**
 * An exchange was refused. The document does not show whether that burns a code, nor whether a second presentation
 * revokes what the first one yielded.
 */
export const exchangeRefused = (code: CodeState): void => {
  code.doubtful = true;
  if (code.grant !== undefined) code.grant.doubtful = true;
};

/** A refresh issued an access token; the earlier ones of the grant may or may not still work. */
export const refreshed = (
  model: Model,
  grant: GrantState,
  tokens: Omit<GivenTokens, "refreshToken">,
  issued: TimeInterval,
): void => {
  for (const earlier of model.accesses) if (earlier.grant === grant) earlier.doubtful = true;
  accessIssued(model, grant, tokens, issued);
};

/**
 * An access token was issued. One whose text was seen before (a service may derive it from the second of issue) has two
 * times of issue, so nothing is expected of either.
 */
const accessIssued = (
  model: Model,
  grant: GrantState,
  tokens: Omit<GivenTokens, "refreshToken">,
  issued: TimeInterval,
): void => {
  const same = model.accesses.filter(({ value }) => value === tokens.accessToken);
  for (const earlier of same) earlier.doubtful = true;
  const { accessToken: value, lifetimeMs, cutMs } = tokens;
  model.accesses.push({ value, grant, issued, lifetimeMs, cutMs, doubtful: same.length > 0 });
};
