import { isObject } from "../contract/json.ts";
import { pathIn, shorten } from "../contract/text.ts";
import type { PlainAnswer } from "../judging/laws/answer.ts";
import { grantOf as grantIn, type Grant } from "../judging/laws/grant.ts";
import { pageOf as pageIn, showsData, type Page } from "../judging/laws/pages.ts";
import { credentialsOf as credentialsIn, type Credentials } from "../judging/laws/tokens.ts";

/** One request. `path` is sent byte for byte, neither normalized nor encoded. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

/** One answer as received. */
export interface Answer {
  /** Number of the exchange in the run's journal. */
  readonly exchange: number;
  readonly status: number;
  /** Header names in lower case, in order of arrival; repeated headers stay separate. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
  /** Whether a limiter gave it in place of the service, though its status does not say so. */
  readonly isOfLimiter?: boolean;
}

/** Method and path of a request, by which requests of one kind are told from others. */
export const withoutQuery = ({ method, path }: Pick<Request, "method" | "path">): string =>
  `${method} ${pathIn(path)}`;

/** First value of a header, by its lower-case name. */
export const headerOf = (answer: Pick<Answer, "headers">, name: string): string | undefined =>
  answer.headers.find(([key]) => key === name)?.[1];

/** The answer's JSON object, or an empty one if the body is something else. */
export const objectOf = (answer: Answer): Readonly<Record<string, unknown>> =>
  isObject(answer.json) ? answer.json : {};

/**
 * Whether an answer may be a gateway's or a limiter's, that got none from the service or never asked it (RFC 9110 sections
 * 15.6.3 to 15.6.5): then nobody knows what the service did.
 */
export const mayBeGateways = ({ status, isOfLimiter }: Pick<Answer, "status" | "isOfLimiter">): boolean =>
  isOfLimiter === true || (status >= 502 && status <= 504);

/** The request got no complete answer: refused, reset, closed early, timed out. Says nothing about the service's promises. */
export class TransportError extends Error {
  readonly exchange: number;
  readonly reason:
    | "refused"
    | "closed"
    | "timeout"
    | "throttled"
    | "locked"
    | "own-limit"
    | "too-large"
    | "protocol";
  override readonly name = "TransportError";
  constructor(exchange: number, reason: TransportError["reason"], message: string) {
    super(message);
    this.exchange = exchange;
    this.reason = reason;
  }
}

/** What a request got whose outcome is unknown: no answer, or perhaps only a gateway's. */
export type Lost = TransportError | Answer;

/** Whether the other side hung up on a request, which a service may do to refuse it. */
export const isHangUp = (error: unknown): error is TransportError =>
  error instanceof TransportError && (error.reason === "closed" || error.reason === "protocol");

/** What would bring the answer to a request that got none, as a noun phrase. */
export const whatAnswers: Readonly<Record<TransportError["reason"], string>> = {
  timeout:
    "a service that answers this request, or more time for it by tolerances.requestTimeoutMs in the profile",
  closed: "a run in which the connections stay open until their answers have arrived",
  refused: "a service that accepts connections until the run ends",
  throttled: "a service, or a rate limit, that lets these requests through",
  locked:
    "a service that does not lock out the clients of the profile, or fewer refused requests a minute, by --pace",
  "own-limit":
    "a machine that lets Touchstone open more connections: more open files (`ulimit -n`), or local ports (`net.ipv4.ip_local_port_range`)",
  "too-large": "a service whose answers are shorter",
  protocol: "a service whose answers are HTTP/1.1",
};

export const whatAnswersInstead = (lost: Lost): string =>
  lost instanceof TransportError
    ? whatAnswers[lost.reason]
    : "a gateway that waits for the answers of the service, or a run that is not behind it";

/** A step that had to succeed for the probe to mean anything failed. The probe is undecided, never passed. */
export class ControlFailed extends Error {
  override readonly name = "ControlFailed";
  /** What would settle it, if that is not for the control to succeed. */
  readonly settle: string | undefined;
  constructor(message: string, settle?: string) {
    super(message);
    this.settle = settle;
  }
}

const unless =
  (...kinds: readonly (new (...given: never) => Error)[]) =>
  <T, E>(attempt: Promise<T>, otherwise: E): Promise<T | E> =>
    attempt.catch((error: unknown) => {
      if (kinds.some((kind) => error instanceof kind)) return otherwise;
      throw error;
    });

/** What an attempt gives, or `otherwise` if one of its controls failed. */
export const unlessControlFails = unless(ControlFailed);

/** What an attempt gives, or `otherwise` if it decided nothing: a control failed, or an answer was lost. */
export const unlessUndecided = unless(ControlFailed, TransportError);

/** The Location of a redirect as a URL; undefined if there is none or it is not absolute. */
export const locationOf = (answer: Answer): URL | undefined => {
  const location = headerOf(answer, "location");
  return location !== undefined && answer.status >= 300 && answer.status < 400 && URL.canParse(location)
    ? new URL(location)
    : undefined;
};

export const plainOf = (answer: Answer): PlainAnswer => ({
  status: answer.status,
  fields: objectOf(answer),
  location: headerOf(answer, "location"),
});

/** The grant in an authorize answer, in JSON or by redirect. */
export const grantOf = (answer: Answer): Grant | undefined => grantIn(plainOf(answer));

/** Credentials in a token answer of any status; undefined unless a non-empty string. */
export const credentialsOf = (answer: Answer): Credentials => credentialsIn(objectOf(answer));

/** The page in a list answer; undefined if `data` is not an array of objects. */
export const pageOf = (answer: Answer): Page | undefined => pageIn(objectOf(answer));

/** Whether an answer is a page that is not empty. */
export const showsSomething = (answer: Answer): boolean => {
  const page = pageOf(answer);
  return page !== undefined && showsData(page);
};

/** An answer for readers of a report: its status and the beginning of its body. */
export const describe = (answer: Answer): string => {
  const text = shorten(answer.text, 160);
  return text === "" ? `status ${answer.status}, no body` : `status ${answer.status}, body ${text}`;
};

export const describeBriefly = (answer: Answer): string =>
  shorten(describe(answer).replaceAll(/\s+/g, " "), 90);
