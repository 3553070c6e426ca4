import type { VNode } from "preact";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { figure as number, plural } from "../text/figures.ts";
import { el } from "./element.ts";
import type { SeenPush } from "./gather/pushes.ts";
import { endsOf, type Sampled } from "./gather/sampled.ts";

/** A broken rule's history is shown up to this length; what is left out is counted. */
const FIRST = 30;
const LAST = 20;
const LONGEST_BODY = 6_000;
const LONGEST_PATH = 300;

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)}… (${number(text.length - most)} characters left out)`;

/** The whole history of a broken rule. */
export const history = (exchanges: readonly ExchangeRecord[]): readonly VNode[] =>
  evidence(endsOf(exchanges, FIRST, LAST));

/** Exchanges, each of which unfolds to its headers and bodies. */
export const evidence = ({ shown, count }: Sampled<ExchangeRecord>, where = "run.json"): readonly VNode[] => [
  el("ol", { class: "exchanges" }, shown.map(exchange)),
  ...(shown.length < count
    ? [
        el(
          "p",
          { class: "soft" },
          `${number(shown.length)} of ${plural(count, "exchange")} are shown here; ${where} has the others.`,
        ),
      ]
    : []),
];

const exchange = ({ n, request, answer, error, durationMs }: ExchangeRecord): VNode =>
  el(
    "li",
    {},
    el(
      "details",
      { class: "exchange" },
      el(
        "summary",
        {},
        el("span", { class: "nth" }, `#${n}`),
        el("b", {}, request.method),
        el("code", { class: "path" }, cut(request.path, LONGEST_PATH)),
        el("span", { class: "status" }, answer === undefined ? "no whole answer" : String(answer.status)),
        el("span", { class: "soft took" }, `${durationMs.toFixed(1)} ms`),
      ),
      el(
        "div",
        { class: "sides" },
        side("Request", `${request.method} ${request.path}`, request.headers, request.body ?? ""),
        answer === undefined
          ? side("Answer", error ?? "no whole answer came", [], "")
          : side("Answer", String(answer.status), answer.headers, answer.text),
      ),
    ),
  );

const side = (
  title: string,
  first: string,
  headers: ExchangeRecord["request"]["headers"],
  body: string,
): VNode =>
  el(
    "div",
    {},
    el("h5", {}, title),
    el(
      "pre",
      { tabindex: 0 },
      el("b", {}, cut(first, LONGEST_BODY)),
      headers.map(([name, value]) => ["\n", el("span", { class: "soft" }, `${name}:`), ` ${value}`]),
      body !== "" && `\n\n${cut(body, LONGEST_BODY)}`,
    ),
  );

/** Pushes as the receiver saw them, in the form of exchanges. */
export const pushEvidence = ({ shown, count }: Sampled<SeenPush>): readonly VNode[] =>
  evidence({ shown: shown.map(asExchange), count }, "pushes.jsonl");

const asExchange = (push: SeenPush): ExchangeRecord => ({
  n: push.n,
  rule: "push",
  startedMs: push.firstByteMs,
  durationMs: Math.max(0, (push.answeredMs ?? push.completeMs) - push.firstByteMs),
  request: { method: push.method, path: push.path, headers: push.headers, body: push.body },
  ...(push.status === undefined
    ? { error: `the receiver's plan: ${push.action}` }
    : { answer: { status: push.status, headers: [], text: push.answer ?? "" } }),
});
