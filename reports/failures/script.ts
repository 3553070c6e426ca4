import { jsonFile, unsafe } from "../../conformance/contract/harmless-text.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { plural } from "../text/figures.ts";
import { safe } from "../text/safe.ts";
import { originOf, asTemplate } from "./curl.ts";
import type { Failure } from "./failures.ts";
import { runtime } from "./runtime.ts";

/**
 * Failures as one dependency-free program for Node 20.16 or later. It sends the histories again: it fails while the
 * service still answers as it did when judged, and passes once it answers differently.
 */
export const renderScript = (
  failures: readonly Failure[],
  { program }: { readonly program: string },
): string => {
  const cases = failures.map((failure) => ({
    rule: failure.rule,
    sentence: failure.sentence,
    expected: failure.expected,
    actual: failure.actual,
    origin: originOf(failure.baseUrl),
    cannot: whyNot(failure),
    steps: failure.exchanges.map((exchange, at) => stepOf(exchange, failure.exchanges[at - 1])),
  }));
  return `#!/usr/bin/env node
/*
 * ${plural(failures.length, "broken promise")}, to be reproduced without Touchstone:
 *
 *   node failures.mjs [RULE...]
 *
 * It repeats the requests that showed each breach. Exit code 1: the service still answers as it did. 0: it now
 * answers differently; \`${commented(program)} replay\` judges whether that is right. 3: the requests could not be sent.
 *
 * BASE_URL           another service in place of the one judged
 * CLIENT_SECRET_1... client secrets; the script names missing ones
 * ADVANCE_COMMAND    a shell command that moves the service's clock by $MS milliseconds; without it, time passes normally
 */
const cases = ${jsonFile(cases).trimEnd()};
const unsafe = ${String(unsafe)};
${runtime}`;
};

/** Escapes what would end the comment. */
const commented = (text: string): string => safe(text).replaceAll("*/", "* /");

const whyNot = ({ rule, underLoad, exchanges }: Failure): string | undefined => {
  if (underLoad) return "it was broken under load; `touchstone load` reproduces it";
  if (rule.startsWith("push."))
    return "it concerns pushes, which need a receiver; `touchstone replay` has one";
  if (exchanges.length === 0) return "it has no exchanges";
  const isCut = exchanges.some(({ request }) =>
    /… \([\d,]+ characters\)|…$/.test(`${request.path}\n${request.body ?? ""}`),
  );
  return isCut ? "a request was too long to keep" : undefined;
};

const stepOf = (exchange: ExchangeRecord, before: ExchangeRecord | undefined) => {
  const { request, answer } = exchange;
  const templates = (lines: ExchangeRecord["request"]["headers"]) =>
    lines.map(([name, value]) => [name, asTemplate(value)] as const);
  return {
    method: request.method,
    path: asTemplate(request.path),
    headers: templates(request.headers),
    body: request.body === undefined ? undefined : asTemplate(request.body),
    // On the service's clock.
    afterMs: before === undefined ? 0 : passedBetween(before, exchange),
    // Sent while the previous one was still in flight.
    beside: before !== undefined && exchange.startedMs < before.startedMs + before.durationMs,
    status: answer?.status ?? 0,
    answerHeaders: templates(answer?.headers ?? []),
    text: asTemplate(answer?.text ?? ""),
  };
};

/** Uses the service's own clock if its answers state it, because a test may have moved that clock in between. */
const passedBetween = (before: ExchangeRecord, exchange: ExchangeRecord): number => {
  const [earlier, later] = [toldBy(before), toldBy(exchange)];
  const passed =
    earlier === undefined || later === undefined ? exchange.startedMs - before.startedMs : later - earlier;
  return Math.max(0, Math.round(passed));
};

const toldBy = ({ answer }: ExchangeRecord): number | undefined => {
  const found = /"timestamp":\s*(\d{12,14})\b/.exec(answer?.text ?? "")?.[1];
  return found === undefined ? undefined : Number(found);
};
