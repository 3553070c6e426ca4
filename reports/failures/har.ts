import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { isBreach } from "../../conformance/contract/verdict.ts";
import type { RecordedRun } from "../read/index.ts";
import { exchangesUnderLoad, laterBy } from "../text/breach.ts";
import { jsonFile } from "../../conformance/contract/harmless-text.ts";
import { shellWord } from "../text/figures.ts";
import { labelsOf } from "../../conformance/contract/secrets.ts";

/**
 * A request as a shell line that sends the same bytes. Credentials become environment variables named after their
 * labels: ‹code 3› is $CODE_3. What a rule made of one is a variable of its own that says how, such as
 * $CODE_3_ALL_IN_CAPITALS.
 */
export const curlOf = ({ request }: Pick<ExchangeRecord, "request">, baseUrl: string): string => {
  const { method, path, headers, body } = request;
  return [
    "curl --silent --show-error --include --globoff --path-as-is",
    ...(method === "GET" && body === undefined ? [] : ["--request", quoted(method)]),
    quoted(`${originOf(baseUrl)}${path}`),
    ...headers.flatMap(([name, value]) => ["--header", quoted(`${name}: ${value}`)]),
    ...(body === undefined ? [] : ["--data-binary", quoted(body)]),
  ].join(" ");
};

/** Paths are kept as sent, with the base address's path as their prefix. */
const originOf = (baseUrl: string): string => (URL.canParse(baseUrl) ? new URL(baseUrl).origin : baseUrl);

const label = labelsOf();

/** ‹code 3› as the name of an environment variable: CODE_3. */
const variableOf = (name: string): string => name.toUpperCase().replaceAll(/\W+/g, "_");

/** One argument: text in single quotes, variables in double quotes. */
const quoted = (text: string): string => {
  let at = 0;
  const pieces = [...text.matchAll(label)].flatMap((found) => {
    const before = text.slice(at, found.index);
    at = found.index + found[0].length;
    return [before && shellWord(before), `"$${variableOf(found[0].slice(1, -1))}"`];
  });
  const rest = text.slice(at);
  return [...pieces, rest && shellWord(rest)].join("") || "''";
};

/** The broken promises of runs with everything needed to reproduce them. Credentials are labels, such as ‹code 3›. */
export const failuresOf = (runs: readonly RecordedRun[]) =>
  runs.flatMap((run) => {
    const { target, startedAt } = run.record;
    const breaches =
      run.kind === "load"
        ? run.record.breaches.map((one) => ({ ...one, exchanges: exchangesUnderLoad(one) }))
        : run.record.rules.flatMap(({ id: rule, verdict, exchanges }) =>
            isBreach(verdict) ? [{ rule, ...verdict.breach, exchanges }] : [],
          );
    // In real time, this machine's clock tells when an exchange was sent.
    const isRealTime = run.kind === "load" || run.record.target.clock === "real";
    return breaches.map(({ rule, expected, actual, exchanges }) => ({
      rule,
      expected,
      actual,
      exchanges,
      baseUrl: target.baseUrl,
      startedAt,
      isRealTime,
    }));
  });

type Failure = ReturnType<typeof failuresOf>[number];
type HeaderLines = ExchangeRecord["request"]["headers"];

/** Failures as an HTTP Archive (version 1.2), one page each, for browsers and proxies. */
export const renderHar = (failures: readonly Failure[], version: string): string => {
  const pages = failures.map((failure, at) => ({
    startedDateTime: momentOf(failure, failure.exchanges[0]),
    id: `failure-${at + 1}`,
    title: `${failure.rule}: expected ${failure.expected}; seen ${failure.actual}`,
    pageTimings: {},
  }));
  const entries = failures.flatMap((failure, at) => entriesOf(failure, `failure-${at + 1}`));
  const log = { version: "1.2", creator: { name: "touchstone", version }, pages, entries };
  return jsonFile({ log });
};

const momentOf = ({ startedAt }: Failure, exchange: ExchangeRecord | undefined): string =>
  new Date(Date.parse(startedAt) + (exchange?.startedMs ?? 0)).toISOString();

const entriesOf = (failure: Failure, pageref: string) => {
  const later = laterBy(failure.exchanges, failure.isRealTime);
  return failure.exchanges.map((exchange) => {
    const passed = later.get(exchange.n);
    const told = [
      exchange.isPush === true && "a push, sent by the service to its receiver",
      passed !== undefined && `${passed} after the first one, on the service's clock`,
    ].filter((one) => one !== false);
    const comment = told.length === 0 ? {} : { comment: told.join("; ") };
    return { pageref, ...entryOf(failure, exchange), ...comment };
  });
};

/** Where a push went: the receiver, by the name under which the service addressed it. Only TLS was promised to it. */
const receiverOf = ({ headers }: ExchangeRecord["request"]): string =>
  `https://${headerIn(headers, "host") ?? "receiver.invalid"}`;

const entryOf = (failure: Failure, exchange: ExchangeRecord) => {
  const { request, answer, durationMs, error } = exchange;
  const url = `${exchange.isPush === true ? receiverOf(request) : originOf(failure.baseUrl)}${request.path}`;
  return {
    startedDateTime: momentOf(failure, exchange),
    time: durationMs,
    request: {
      method: request.method,
      url,
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: named(request.headers),
      queryString: URL.canParse(url)
        ? [...new URL(url).searchParams].map(([name, value]) => ({ name, value }))
        : [],
      headersSize: -1,
      bodySize: bytesOf(request.body),
      ...(request.body !== undefined && {
        postData: { mimeType: typeIn(request.headers), text: request.body },
      }),
    },
    response: {
      status: answer?.status ?? 0,
      statusText: "",
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: named(answer?.headers ?? []),
      content: {
        size: bytesOf(answer?.text),
        mimeType: typeIn(answer?.headers ?? []),
        text: answer?.text ?? "",
      },
      redirectURL: headerIn(answer?.headers ?? [], "location") ?? "",
      headersSize: -1,
      bodySize: bytesOf(answer?.text),
      _error: error,
    },
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
  };
};

const named = (headers: HeaderLines) => headers.map(([name, value]) => ({ name, value }));

const headerIn = (headers: HeaderLines, wanted: string): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1];

const typeIn = (headers: HeaderLines): string =>
  headerIn(headers, "content-type") ?? "application/octet-stream";

const bytesOf = (text = ""): number => Buffer.byteLength(text);
