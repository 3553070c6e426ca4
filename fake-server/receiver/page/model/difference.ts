import { parseJson } from "../../../../conformance/contract/json.ts";
import type { Push } from "../../../../conformance/contract/push.ts";

/** One place in which two pushes differ; a side without it is undefined. */
export interface Difference {
  /** "method", "path", "header date", "body", or "body" with a JSON pointer (RFC 6901). */
  readonly where: string;
  readonly before?: string;
  readonly after?: string;
}

/** With more differences, two bodies have little in common. */
const MOST = 100;

export const differencesOf = (before: Push, after: Push): Difference[] => {
  const found = [
    ...compared("method", before.method, after.method),
    ...compared("path", before.path, after.path),
    ...headerDifferences(before.headers, after.headers),
    ...(before.bodySha256 === after.bodySha256 ? [] : bodyDifferences(before, after)),
  ];
  return found.slice(0, MOST);
};

const compared = (where: string, before: string | undefined, after: string | undefined): Difference[] =>
  before === after
    ? []
    : [{ where, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];

type Headers = Push["headers"];

const headerDifferences = (before: Headers, after: Headers): Difference[] => {
  const [one, other] = [valuesOf(before), valuesOf(after)];
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((name) =>
    compared(`header ${name}`, one.get(name), other.get(name)),
  );
};

/** By lower-case name, with lines of the same name combined. */
export const valuesOf = (headers: Headers): ReadonlyMap<string, string> =>
  new Map(
    [...Map.groupBy(headers, ([name]) => name.toLowerCase())].map(([name, lines]) => [
      name,
      lines.map(([, value]) => value).join(", "),
    ]),
  );

const bodyDifferences = (before: Push, after: Push): Difference[] => {
  const [one, other] = [jsonIn(before), jsonIn(after)];
  const found = one === undefined || other === undefined ? [] : valueDifferences("", one, other);
  if (found.length > 0) return found;
  // Bodies that are not JSON, differ only in spelling, or differ beyond what is stored.
  return [{ where: "body", before: bodyWords(before), after: bodyWords(after) }];
};

const bodyWords = ({ body, bodyBytes, bodySha256 }: Push): string =>
  `${body.length > 200 ? `${body.slice(0, 200)}…` : body} (${bodyBytes} bytes, SHA-256 ${bodySha256.slice(0, 12)}…)`;

const jsonIn = ({ body, bodyEncoding }: Push): unknown =>
  bodyEncoding === "base64" ? undefined : parseJson(body);

const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const valueDifferences = (pointer: string, before: unknown, after: unknown): Difference[] => {
  if (!isTree(before) || !isTree(after) || Array.isArray(before) !== Array.isArray(after))
    return compared(`body${pointer}`, JSON.stringify(before), JSON.stringify(after));
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
    valueDifferences(
      `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      Object.hasOwn(before, key) ? before[key] : undefined,
      Object.hasOwn(after, key) ? after[key] : undefined,
    ),
  );
};
