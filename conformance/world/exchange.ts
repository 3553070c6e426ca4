/** One request as it is sent. `path` goes out byte for byte: nothing normalises or encodes it. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

/** One answer as it came back. */
export interface Answer {
  /** Number of the exchange in the run's journal. */
  readonly exchange: number;
  readonly status: number;
  /** Header names in lower case, in the order of arrival; repeated headers stay apart. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
  /** The body as JSON, or undefined where it is none. */
  readonly json: unknown;
}

/** First value of a header, by its lower-case name. */
export const headerOf = (answer: Pick<Answer, "headers">, name: string): string | undefined =>
  answer.headers.find(([key]) => key === name)?.[1];

/** The answer's JSON object, or an empty one where the body is something else. */
export const objectOf = (answer: Answer): Readonly<Record<string, unknown>> =>
  typeof answer.json === "object" && answer.json !== null && !Array.isArray(answer.json)
    ? (answer.json as Record<string, unknown>)
    : {};

/** The request got no whole answer: refused, reset, closed early, timed out. Says nothing about the service's promises. */
export class TransportError extends Error {
  readonly exchange: number;
  readonly reason: "refused" | "closed" | "timeout" | "throttled" | "too-large" | "protocol";
  constructor(exchange: number, reason: TransportError["reason"], message: string) {
    super(message);
    this.name = "TransportError";
    this.exchange = exchange;
    this.reason = reason;
  }
}

/** A step that had to succeed for the probe to mean anything did not. The probe is undecided, never passed. */
export class ControlFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ControlFailed";
  }
}
