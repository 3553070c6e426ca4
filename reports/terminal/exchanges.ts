import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { accessTokenHeader } from "../../conformance/contract/forms.ts";
import type { Exchanges } from "../document/model.ts";
import { fold, hang, indent, widest, padStart } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";

type Headers = ExchangeRecord["request"]["headers"];

const FIRST = 3;
const LAST = 5;
const LINES = 3;

/** Headers that say nothing in a history unless the breach speaks of them. */
const usualTypes = /^application\/json\b/i;

interface HistoryOptions extends Page {
  /** Text of the breach: headers that it names are shown. */
  readonly about: string;
  /** Columns that are taken on the left already. */
  readonly left: number;
}

/**
 * Exchanges as numbered requests with their answers, a few lines each. Of a long history the first
 * and the last are shown; the numbers are those of exchanges.jsonl, where all of them are.
 */
export const history = (exchanges: readonly ExchangeRecord[], options: HistoryOptions): string[] => {
  const numbers = exchanges.map(({ n }) => `#${n}`);
  const margin = widest(numbers);
  const lines = exchanges.map((exchange, at) => {
    const [first = "", ...rest] = oneExchange(exchange, { ...options, left: options.left + margin + 2 });
    return [
      `${options.palette.dim(padStart(numbers[at] ?? "", margin))}  ${first}`,
      ...indent(rest, margin + 2),
    ];
  });
  const omitted = lines.length - FIRST - LAST;
  if (omitted < 2) return lines.flat();
  return [
    ...lines.slice(0, FIRST).flat(),
    options.palette.dim(`${" ".repeat(margin)}  … ${omitted} exchanges are left out here`),
    ...lines.slice(-LAST).flat(),
  ];
};

const oneExchange = (exchange: ExchangeRecord, options: HistoryOptions): string[] => {
  const { palette } = options;
  const { request, answer } = exchange;
  const columns = options.columns - options.left;
  const data = (text: string, by: number): string[] => indent(fold(safe(text), columns - by, LINES), by);
  const headers = (list: Headers): string[] =>
    list
      .filter((header) => isTelling(header, options.about))
      .flatMap(([name, value]) => data(`${name}: ${value}`, 2));
  return [
    ...hang(safe(`${request.method} ${request.path}`), columns, LINES),
    ...headers(request.headers),
    ...(request.body === undefined || request.body === "" ? [] : data(request.body, 2)),
    ...(answer === undefined
      ? hang(`→ no whole answer: ${safe(exchange.error ?? "unknown")}`, columns, LINES).map(palette.red)
      : answerLines(answer, columns, headers)),
  ];
};

const answerLines = (
  answer: NonNullable<ExchangeRecord["answer"]>,
  columns: number,
  headers: (list: Headers) => string[],
): string[] => {
  const status = `→ ${answer.status}`;
  const told = headers(answer.headers);
  if (answer.text === "") return [`${status} with an empty body`, ...told];
  if (told.length > 0) return [status, ...told, ...indent(fold(safe(answer.text), columns - 2, LINES), 2)];
  return hang(`${status} ${safe(answer.text)}`, columns, LINES);
};

const always = new Set(["location", "retry-after", accessTokenHeader]);

const isTelling = ([name, value]: Headers[number], about: string): boolean => {
  const lower = name.toLowerCase();
  if (lower === "content-type") return !usualTypes.test(value);
  return always.has(lower) || about.toLowerCase().includes(lower.length < 5 ? `${lower}:` : lower);
};

export const exchangeLines = ({ shown, count, where, about }: Exchanges, page: Page): string[] => [
  ...history(shown, { ...page, about, left: 0 }),
  ...(shown.length < count
    ? [page.palette.dim(`${shown.length} of ${count} exchanges are shown here; ${where} has the others`)]
    : []),
];
