import { hashCommand, jsonFile, unsafe } from "../../conformance/contract/harmless-text.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { ALTERED_SECRET } from "../../conformance/contract/secrets.ts";
import { isPush, sentMs } from "../text/proof.ts";
import { plural } from "../text/figures.ts";
import { safe } from "../text/safe.ts";
import { asTemplate, nearnessByVariable, originOf } from "./curl.ts";
import type { Failure } from "./failures.ts";
import { runtime } from "./runtime.ts";

/**
 * Failures as one dependency-free program for Node 20.16 or later. It sends the histories again: it fails while the
 * service still answers as it did when judged, and passes once it answers differently.
 */
export const renderScript = (
  failures: readonly Failure[],
  { program, comment }: { readonly program: string; readonly comment?: string | undefined },
): string => {
  const cases = failures.map((failure) => ({
    rule: failure.rule,
    sentence: failure.sentence,
    expected: failure.expected,
    actual: failure.actual,
    origin: originOf(failure.baseUrl),
    cannot: whyNot(failure),
    isAboutLists: isAboutLists(failure),
    replayed: failure.replayed,
    steps: stepsOf(failure),
  }));
  return `#!/usr/bin/env node
/*
 * ${plural(failures.length, "broken promise")}, to be reproduced without Touchstone:
 *${comment === undefined ? "" : `\n * ${commented(comment)}\n *`}
 *   node failures.mjs [RULE...]
 *
 * It repeats the requests that showed each breach. Exit code 1: the service still answers as it did. 0: it now
 * answers differently; \`${commented(program)} replay\` judges whether that is right. 3: it cannot tell, and says why.
 *
 * BASE_URL           another service in place of the one judged
 * CLIENT_SECRET_1... client secrets; the script names missing ones
 * ADVANCE_COMMAND    a shell command that moves the service's clock by $MS milliseconds; without it, time passes normally
 */
const cases = ${jsonFile(cases).trimEnd()};
const unsafe = ${String(unsafe)};
const hashCommand = ${String(hashCommand)};
${runtime}`;
};

/** Escapes what would end the comment. */
const commented = (text: string): string => safe(text).replaceAll("*/", "* /");

const whyNot = (failure: Failure): string | undefined => {
  const { rule, underLoad, exchanges } = failure;
  if (underLoad) return "it was broken under load; `touchstone load` reproduces it";
  if (rule.startsWith("push.") || exchanges.some(isPush))
    return "it concerns pushes, which need a receiver; `touchstone replay` has one";
  if (rule.endsWith("-entropy"))
    return "it concerns how random many values are; `touchstone replay` measures that";
  if (exchanges.length === 0) return "it has no exchanges";
  if (sentInOrder(failure).some(({ atMs }) => atMs === undefined))
    return "the record does not tell how much of the service's time passed between the requests; `touchstone replay` sends them at the right times, and records of this version tell";
  const isCut = exchanges.some(({ request }) =>
    /… \([\d,]+ characters(?: in all)?\)|…$/m.test(`${request.path}\n${request.body ?? ""}`),
  );
  if (isCut) return "a request was too long to keep";
  return exchanges.some(({ request }) => request.body?.includes(ALTERED_SECRET))
    ? "the record hides a client secret that was sent altered; `touchstone replay` makes it again"
    : undefined;
};

/** Whether the breach is about which notifications a list shows. */
const isAboutLists = ({ rule, expected }: Failure): boolean =>
  (rule.startsWith("notifications.") && rule !== "notifications.versioned-path") ||
  expected.startsWith("the account has ");

/** An exchange with the moment on the service's clock at which it was sent, counted from the first one. */
interface Sent {
  readonly exchange: ExchangeRecord;
  readonly atMs: number | undefined;
}

const sentInOrder = ({ exchanges, isRealTime }: Failure): readonly Sent[] => {
  const inOrder = exchanges.toSorted((a, b) => a.n - b.n);
  const moments = inOrder.length === 1 ? [0] : sentMs(inOrder, isRealTime);
  const [first] = moments;
  return inOrder.map((exchange, at) => {
    const moment = moments[at];
    const isKnown = moment !== undefined && first !== undefined;
    return { exchange, atMs: isKnown ? Math.max(0, Math.round(moment - first)) : undefined };
  });
};

const stepsOf = (failure: Failure) => {
  const known = new Set<string>();
  let group: Sent[] = [];
  return sentInOrder(failure).map((sent) => {
    const beside = group.length > 0 && isBeside(sent, group, known);
    if (!beside) {
      for (const one of group.flatMap(({ exchange }) => namesIn(exchange.answer))) known.add(one);
      group = [];
    }
    group.push(sent);
    return { ...stepOf(sent.exchange), atMs: sent.atMs ?? 0, beside };
  });
};

/** Whether it was sent while all of a group were in flight, and needs nothing that their answers first gave. */
const isBeside = ({ exchange }: Sent, group: readonly Sent[], known: ReadonlySet<string>): boolean => {
  const given = group.flatMap((one) => namesIn(one.exchange.answer)).filter((name) => !known.has(name));
  return (
    group.every((one) => exchange.startedMs < one.exchange.startedMs + one.exchange.durationMs) &&
    namesIn(exchange.request).every((name) => !given.includes(name.replace(/^(?:NEARLY|ENCODED)_/, "")))
  );
};

const namesIn = (part: ExchangeRecord["request" | "answer"]): readonly string[] =>
  [...asTemplate(JSON.stringify(part ?? {})).matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name ?? "");

const stepOf = ({ n, request, answer, error }: ExchangeRecord) => {
  const templates = (lines: ExchangeRecord["request"]["headers"]) =>
    lines.map(([name, value]) => [name, asTemplate(value)] as const);
  return {
    n,
    method: request.method,
    path: asTemplate(request.path),
    headers: templates(request.headers),
    body: request.body === undefined ? undefined : asTemplate(request.body),
    near: nearnessByVariable(request),
    status: answer?.status ?? 0,
    // How it ended without an answer.
    end: answer === undefined ? error : undefined,
    answerHeaders: templates(answer?.headers ?? []),
    text: asTemplate(answer?.text ?? ""),
  };
};
