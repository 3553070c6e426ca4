import type { FailureCause, OwnLimit } from "../../conformance/contract/load-failures.ts";
import type { SampleOutcome } from "../../conformance/contract/load-record.ts";
import type { Exchange } from "./exchange.ts";
import { grantsNothing } from "./oracles/tokens.ts";
import type { Request } from "./requests.ts";

/**
 * Statuses of answers that are not failures: a grant, a redirect to the client, and a refusal if allowed. Never "too
 * many requests".
 */
export const expected = {
  granted: [{ min: 200, max: 299 }],
  redirected: [{ min: 200, max: 399 }],
  refused: [
    { min: 200, max: 299 },
    { min: 400, max: 428 },
    { min: 430, max: 499 },
  ],
} as const;

type Asked = Pick<Request, "endpoint" | "mayBeRefused">;

export const expectationOf = ({ endpoint, mayBeRefused }: Asked): keyof typeof expected =>
  mayBeRefused ? "refused" : endpoint === "authorize" ? "redirected" : "granted";

/** What became of a request, and why if it failed or could not be sent. */
export type RequestResult =
  | { readonly outcome: Exclude<SampleOutcome, "failed"> }
  | { readonly outcome: "failed"; readonly cause: FailureCause }
  | { readonly outcome: "unsent"; readonly cause: OwnLimit };

export const resultOf = (request: Asked, exchange: Exchange, hasRetryAfter: boolean): RequestResult => {
  const { status, text } = exchange;
  if (status === 0) {
    const limit = firstMatch(limitTexts, text);
    return limit === undefined
      ? { outcome: "failed", cause: firstMatch(errorTexts, text) ?? "other" }
      : { outcome: "unsent", cause: limit };
  }
  if (!expected[expectationOf(request)].some(({ min, max }) => min <= status && status <= max))
    return { outcome: "failed", cause: causeOf(status, hasRetryAfter) };
  if (!request.mayBeRefused && grantsNothing(exchange)) return { outcome: "failed", cause: "empty answer" };
  return { outcome: status < 400 ? "granted" : "refused" };
};

const causeOf = (status: number, hasRetryAfter: boolean): FailureCause => {
  if (status === 429) return "429";
  if (status === 503) return hasRetryAfter ? "503 with Retry-After" : "503";
  if (status >= 500) return "other 5xx";
  if (status >= 400) return "other 4xx";
  return status >= 300 ? "redirect" : "other";
};

/* How k6 words the errors of Go and of the operating system. The first that matches counts. */

const limitTexts: readonly (readonly [OwnLimit, RegExp])[] = [
  // EMFILE, and ENFILE of the whole machine; EADDRNOTAVAIL and EADDRINUSE; ENOBUFS.
  ["open files", /too many open files/i],
  ["local ports", /cannot assign requested address|can't assign requested address|address already in use/i],
  ["socket buffers", /no buffer space available/i],
];

const errorTexts: readonly (readonly [FailureCause, RegExp])[] = [
  ["timeout", /time(d )?[ -]?out|deadline exceeded/i],
  ["name lookup", /lookup|no such host/i],
  ["TLS", /tls|x509|certificate/i],
  ["refused", /refused/i],
  ["reset", /reset|broken pipe/i],
  ["half answer", /unexpected EOF/i],
  ["closed", /EOF|closed|GOAWAY/i],
];

const firstMatch = <T>(texts: readonly (readonly [T, RegExp])[], text: string): T | undefined =>
  texts.find(([, pattern]) => pattern.test(text))?.[0];
