import { expect, it } from "vitest";
import type { Exchange } from "./exchange.ts";
import { resultOf } from "./outcome.ts";

const exchange = (status: number, text = "", more: Partial<Exchange> = {}): Exchange => ({
  endpoint: "list",
  method: "GET",
  path: "/",
  status,
  text,
  fields: {},
  durationMs: 1,
  ...more,
});

const resultFor = (one: Exchange, hasRetryAfter = false, mayBeRefused = false) =>
  resultOf({ endpoint: one.endpoint, mayBeRefused }, one, hasRetryAfter);

/** The words of k6 1.8.1, most of them seen with services that fail this way. */
it.each([
  ["open files", "dial: unknown errno 24 error with msg `too many open files`"],
  ["open files", "dial tcp: lookup service.test on 127.0.0.53:53: dial udp: socket: too many open files"],
  ["local ports", "dial: unknown errno 99 error with msg `cannot assign requested address`"],
  ["local ports", "connect: can't assign requested address"],
  ["socket buffers", "write tcp 127.0.0.1:1: write: no buffer space available"],
])("a request is not sent if the machine has no more %s: %s", (cause, text) => {
  expect(resultFor(exchange(0, text))).toEqual({ outcome: "unsent", cause });
});

it.each([
  ["timeout", "request timeout"],
  ["timeout", "dial: i/o timeout"],
  ["name lookup", "lookup: no such host"],
  ["TLS", "tls: first record does not look like a TLS handshake"],
  ["TLS", "x509: unknown authority"],
  ["refused", "dial: connection refused"],
  ["reset", "read: connection reset by peer"],
  ["reset", "write: broken pipe"],
  ["half answer", "unexpected EOF"],
  ["closed", "EOF"],
  ["closed", "http2: received GoAway with http2 ErrCode: NO_ERROR; GOAWAY"],
  ["other", 'malformed HTTP status code "world"'],
])("a request without an answer has failed: %s for %s", (cause, text) => {
  expect(resultFor(exchange(0, text))).toEqual({ outcome: "failed", cause });
});

it.each([
  ["429", 429, false],
  ["503", 503, false],
  ["503 with Retry-After", 503, true],
  ["other 5xx", 500, true],
  ["other 4xx", 403, false],
  ["redirect", 302, false],
])("an answer that is not expected has failed: %s", (cause, status, hasRetryAfter) => {
  expect(resultFor(exchange(status), hasRetryAfter)).toEqual({ outcome: "failed", cause });
});

it("a refusal is no failure where it is expected, but a request for less is", () => {
  expect(resultFor(exchange(400), false, true)).toEqual({ outcome: "refused" });
  expect(resultFor(exchange(429), false, true)).toEqual({ outcome: "failed", cause: "429" });
});

it("a success must grant something", () => {
  const page = exchange(200, "", { fields: { data: [], total: 0 } });
  expect(resultFor(page)).toEqual({ outcome: "granted" });
  expect(resultFor(exchange(200))).toEqual({ outcome: "failed", cause: "empty answer" });
  expect(resultFor(exchange(200), false, true)).toEqual({ outcome: "granted" });
  const redirect = exchange(302, "", { endpoint: "authorize", location: "https://c/cb?code=c&state=s" });
  expect(resultFor(redirect)).toEqual({ outcome: "granted" });
});
