import type { Nearness } from "../../conformance/contract/nearness.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { shellWord } from "../text/figures.ts";
import { secretKinds } from "../../conformance/contract/secret-index.ts";

/**
 * A request as a shell line that sends the same bytes. Credentials become environment variables named after their
 * labels: ‹code 3› is $CODE_3. What was nearly a credential is made from its variable where a shell can; elsewhere it is a
 * variable of its own, such as $NEARLY_CODE_3.
 */
export const curlOf = ({ request }: Pick<ExchangeRecord, "request">, baseUrl: string): string => {
  const { method, path, headers, body } = request;
  const near = nearnessByVariable(request);
  const quoted = (text: string): string => quotedWith(near, text);
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

type NearnessByVariable = Readonly<Record<string, Nearness>>;

/** How each NEARLY_CODE_3 of a request differs from CODE_3, as far as the record tells. */
const nearnessByVariable = ({ nearly = {} }: ExchangeRecord["request"]): NearnessByVariable =>
  Object.fromEntries(
    Object.entries(nearly).map(([name, how]) => [variableOf(name.replaceAll(/[‹›]/g, "")), how]),
  );

/** One argument: text in single quotes, variables in double quotes. */
const quotedWith = (near: NearnessByVariable, text: string): string =>
  text
    .split(label)
    .map((piece, at) =>
      at % 2 === 1 ? `"${expansionOf(variableOf(piece), near)}"` : piece && shellWord(piece),
    )
    .join("") || "''";

/** A shell can change the ends of a value, and its case. */
const expansionOf = (variable: string, near: NearnessByVariable): string => {
  const how = near[variable];
  const exact = variable.replace(/^NEARLY_/, "");
  const { start, end, drop = 0, put = "", to } = how ?? {};
  // Anything else could end the quotation or expand to something.
  if (!/^[\w.~-]*$/.test(put)) return `$${variable}`;
  if (to === "upper case") return `$(printf %s "$${exact}" | tr a-z A-Z)`;
  if (to === "lower case") return `$(printf %s "$${exact}" | tr A-Z a-z)`;
  const left = "?".repeat(drop);
  if (to === undefined && start === 0) return `${put}\${${exact}${left && `#${left}`}}`;
  if (to === undefined && end === drop) return `\${${exact}${left && `%${left}`}}${put}`;
  return `$${variable}`;
};
