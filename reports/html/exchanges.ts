import type { VNode } from "preact";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { figure as number, plural } from "../text/figures.ts";
import { el, type Child } from "./element.ts";
import type { Exchanges } from "../document/model.ts";
import { curlOf } from "../failures/curl.ts";
import { command } from "./parts.ts";
import { cut } from "../../conformance/contract/text.ts";

const LONGEST_BODY = 6_000;
const LONGEST_PATH = 300;

export const evidence = ({ shown, count, where, baseUrl, later }: Exchanges): Child => {
  const told = `${number(shown.length)} of ${plural(count, "exchange")} are shown here; ${where} has the others.`;
  const all = shown.map((one) => exchange(one, baseUrl, later?.get(one.n)));
  return [el("ol.exchanges", all), shown.length < count && el("p.soft", told)];
};

const exchange = (one: ExchangeRecord, baseUrl: string | undefined, later?: string): VNode => {
  const { n, request, answer, error, durationMs } = one;
  return el(
    "li",
    el(
      "details.exchange",
      el(
        "summary",
        el("span.nth", `#${n}`),
        el("b", request.method),
        el("code.path", cut(request.path, LONGEST_PATH)),
        el("span.status", answer === undefined ? "no complete answer" : String(answer.status)),
        later !== undefined &&
          el("span.soft", { title: "after the first exchange, on the service's clock" }, later),
        el("span.soft.took", `${durationMs.toFixed(1)} ms`),
      ),
      el(
        "div.sides",
        side("Request", `${request.method} ${request.path}`, request.headers, request.body ?? ""),
        answer === undefined
          ? side("Answer", error ?? "no complete answer arrived", [], "")
          : side("Answer", String(answer.status), answer.headers, answer.text),
      ),
      // A push was sent by the service, so sending it there again would prove nothing.
      baseUrl !== undefined && one.isPush !== true && command(cut(curlOf(one, baseUrl), LONGEST_BODY)),
    ),
  );
};

const side = (
  title: string,
  first: string,
  headers: ExchangeRecord["request"]["headers"],
  body: string,
): VNode =>
  el(
    "div",
    el("h4", title),
    el(
      "pre",
      { tabindex: 0 },
      el("b", cut(first, LONGEST_BODY)),
      headers.map(([name, value]) => ["\n", el("span.soft", `${name}:`), ` ${value}`]),
      body !== "" && `\n\n${cut(body, LONGEST_BODY)}`,
    ),
  );
