import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { shellWord } from "../text/figures.ts";
import { piecesOf } from "./variables.ts";

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
