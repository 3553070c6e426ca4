import type { ExchangeRecord } from "../../conformance/contract/record.ts";
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
export const originOf = (baseUrl: string): string =>
  URL.canParse(baseUrl) ? new URL(baseUrl).origin : baseUrl;

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
