import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { shellWord } from "../text/figures.ts";
import { secretKinds } from "../../conformance/contract/secret-index.ts";

/**
 * A request as a line for a shell that sends it byte for byte. Credentials are environment variables named
 * after their labels: ‹code 3› is $CODE_3.
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

/** Paths are kept as they were sent, with all that the base address puts before them. */
export const originOf = (baseUrl: string): string =>
  URL.canParse(baseUrl) ? new URL(baseUrl).origin : baseUrl;

/** One argument: text in single quotes, variables in double ones. */
const quoted = (text: string): string =>
  piecesOf(text)
    .map((piece) => ("variable" in piece ? `"$${piece.variable}"` : shellWord(piece.text)))
    .join("") || "''";

const label = new RegExp(`‹((?:nearly |encoded )?(?:${secretKinds.join("|")}) \\d+)›`, "g");

/** ‹code 3› as the name of an environment variable: CODE_3. */
const variableOf = (name: string): string => name.toUpperCase().replaceAll(" ", "_");

/** A text in pieces: what stands there, and variables in the places of credentials. */
const piecesOf = (text: string): readonly ({ readonly text: string } | { readonly variable: string })[] =>
  text
    .split(label)
    .map((piece, at) => (at % 2 === 0 ? { text: piece } : { variable: variableOf(piece) }))
    .filter((piece) => "variable" in piece || piece.text !== "");

/** A text in which each credential is a variable in braces, for programs that fill it in: ‹code 3› becomes {{CODE_3}}. */
export const asTemplate = (text: string): string =>
  piecesOf(text)
    .map((piece) => ("variable" in piece ? `{{${piece.variable}}}` : piece.text))
    .join("");
