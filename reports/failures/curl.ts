import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { shellWord } from "../text/figures.ts";
import { secretKinds } from "../../conformance/contract/secret-index.ts";

/**
 * A request as a shell line that sends the same bytes. Credentials become environment variables named after their
 * labels: ‹code 3› is $CODE_3.
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

const label = new RegExp(`‹((?:nearly |encoded )?(?:${secretKinds.join("|")}) \\d+)›`, "g");

/** ‹code 3› as the name of an environment variable: CODE_3. */
const variableOf = (name: string): string => name.toUpperCase().replaceAll(" ", "_");

/** One argument: text in single quotes, variables in double quotes. */
const quoted = (text: string): string =>
  text
    .split(label)
    .map((piece, at) => (at % 2 === 1 ? `"$${variableOf(piece)}"` : piece && shellWord(piece)))
    .join("") || "''";

/** A text with each credential as a template variable: ‹code 3› becomes {{CODE_3}}. */
export const asTemplate = (text: string): string =>
  text.replaceAll(label, (_, name: string) => `{{${variableOf(name)}}}`);
