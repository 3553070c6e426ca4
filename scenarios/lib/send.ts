import http, { type Params, type RefinedResponse, type ResponseType } from "k6/http";
import { fieldsIn, type Exchange } from "./exchange.ts";
import { expected, expectationOf, resultOf } from "./outcome.ts";
import { ended } from "./report.ts";
import type { Request } from "./requests.ts";
import { settings } from "./settings.ts";

/** The same expectations for k6's own metrics, which other outputs get. */
const callbacks = {
  granted: http.expectedStatuses(...expected.granted),
  redirected: http.expectedStatuses(...expected.redirected),
  refused: http.expectedStatuses(...expected.refused),
};

/** k6 runs the set-up in a separate virtual user, so this stays false in all others. */
let isSetUp = false;

/** From here on requests do not count as load. */
export const sendForSetUp = (): void => {
  isSetUp = true;
};

const paramsOf = (request: Request): Params => ({
  headers: { ...request.headers },
  tags: { name: isSetUp ? "setup" : request.endpoint },
  timeout: settings.requestTimeoutMs,
  redirects: 0,
  responseCallback: callbacks[expectationOf(request)],
});

/** Sends one request and waits for its answer. Never retries. */
export const send = (request: Request): Exchange =>
  exchangeOf(request, http.request(request.method, request.url, request.body ?? null, paramsOf(request)));

export const sendTogether = (requests: readonly Request[]): readonly Exchange[] => {
  if (requests.length === 1) return requests.map(send);
  const responses = http.batch(
    requests.map((request) => ({
      method: request.method,
      url: request.url,
      body: request.body ?? null,
      params: paramsOf(request),
    })),
  );
  return requests.map((request, index) => exchangeOf(request, responses[index] as Response));
};

type Response = RefinedResponse<ResponseType | undefined>;

const exchangeOf = (request: Request, response: Response): Exchange => {
  const exchange = readAnswer(request, response);
  if (isSetUp) return exchange;
  const result = resultOf(request, exchange, response.headers["Retry-After"] !== undefined);
  ended(request.endpoint, result, exchange.durationMs, response.timings.blocked);
  return exchange;
};

const readAnswer = (request: Request, response: Response): Exchange => {
  const { status, body, timings } = response;
  const text = status === 0 ? response.error : typeof body === "string" ? body : "";
  const location = status >= 300 && status < 400 ? response.headers["Location"] : undefined;
  return {
    endpoint: request.endpoint,
    method: request.method,
    path: request.url.replace(/^[a-z]+:\/\/[^/]*/i, ""),
    ...(request.body === undefined ? {} : { requestBody: request.body }),
    status,
    text,
    fields: status === 0 ? {} : fieldsIn(text),
    ...(location === undefined ? {} : { location }),
    durationMs: timings.duration,
  };
};
