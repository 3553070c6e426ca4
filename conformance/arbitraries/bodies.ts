export type RightFields = Readonly<Record<string, string>>;

/** A body that is not the documented JSON object, although it contains all its values. */
export interface BadBody {
  readonly name: string;
  /** The bytes to send (as text), made from the right fields. */
  readonly write: (fields: RightFields) => string;
  readonly query?: (fields: RightFields) => string;
  /** Its content type, if it does not claim to be JSON. */
  readonly type?: string;
}

const MEBIBYTE = 1_048_576;
const DEPTH = 20_000;

const bad = (name: string, write: BadBody["write"], more: Pick<BadBody, "query" | "type"> = {}): BadBody => ({
  name,
  write,
  ...more,
});

const form = (fields: RightFields): string => new URLSearchParams(fields).toString();

const BOUNDARY = "----boundary";

const multipart = (fields: RightFields): string =>
  [
    ...Object.entries(fields).map(
      ([name, value]) =>
        `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    ),
    `--${BOUNDARY}--\r\n`,
  ].join("");

const json = (fields: RightFields): string => JSON.stringify(fields);

const wrap = (fields: RightFields, change: (value: string) => unknown): string =>
  JSON.stringify(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value)])));

/** The object's text with one more member before or after its own, repeating a key. */
const withFirst = (fields: RightFields, name: string, value: unknown): string =>
  `{${JSON.stringify(name)}:${JSON.stringify(value)},${json(fields).slice(1)}`;
const withLast = (fields: RightFields, name: string, value: unknown): string =>
  `${json(fields).slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`;

const nested = (inner: string): string => "[".repeat(DEPTH) + inner + "]".repeat(DEPTH);

/** Bodies that are not JSON (RFC 8259), although a lenient parser would find the right fields in them. */
export const notJson: readonly BadBody[] = [
  bad("no body at all", () => ""),
  bad("white space", () => "  \n"),
  bad("a form instead of JSON", form),
  bad("a form under its own content type", form, { type: "application/x-www-form-urlencoded" }),
  bad("a form in parts, under its own content type", multipart, {
    type: `multipart/form-data; boundary=${BOUNDARY}`,
  }),
  bad("without its closing brace", (fields) => json(fields).slice(0, -1)),
  bad("cut off after the last value", (fields) => json(fields).slice(0, -2)),
  bad("cut off before the last value", (fields) =>
    json(fields).slice(0, -JSON.stringify(Object.values(fields).at(-1)).length - 1),
  ),
  bad("a comma too many", (fields) => `${json(fields).slice(0, -1)},}`),
  bad("single quotes", (fields) => json(fields).replaceAll('"', "'")),
  bad("keys without quotes", (fields) => json(fields).replaceAll(/"(\w+)":/g, "$1:")),
  bad("YAML", (fields) =>
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(""),
  ),
  bad(
    "XML",
    (fields) =>
      `<request>${Object.entries(fields)
        .map(([name, value]) => `<${name}>${value}</${name}>`)
        .join("")}</request>`,
  ),
];

/** JSON that is not an object with the documented fields as strings. */
export const notTheObject: readonly BadBody[] = [
  bad("an empty object", () => "{}"),
  bad("null", () => "null"),
  bad("true", () => "true"),
  bad("a number", () => "42"),
  bad("an empty array", () => "[]"),
  bad("the object in an array", (fields) => `[${json(fields)}]`),
  bad("the object twice in an array", (fields) => `[${json(fields)},${json(fields)}]`),
  bad("the values in an array", (fields) => JSON.stringify(Object.values(fields))),
  bad("the object as a JSON string", (fields) => JSON.stringify(json(fields))),
  bad("the object one level down", (fields) =>
    JSON.stringify({ data: fields, body: fields, params: fields }),
  ),
  bad("every value in an array", (fields) => wrap(fields, (value) => [value])),
  bad("every value in an object", (fields) => wrap(fields, (value) => ({ value }))),
  bad("every value as true", (fields) => wrap(fields, () => true)),
  bad("every value as a number", (fields) => wrap(fields, (value) => value.length)),
  bad("every value null", (fields) => wrap(fields, () => null)),
  bad("an empty object, the fields in the query", () => "{}", { query: form }),
  bad("no body, the fields in the query", () => "", { query: form }),
];

/** Objects that repeat a field, with the right value last or first; nothing says which one is meant. */
export const repeatedKeys = (name: string): readonly [last: BadBody, first: BadBody] => [
  bad(`${name} twice, the right one last`, (fields) => withFirst(fields, name, wrong(fields, name))),
  bad(`${name} twice, the right one first`, (fields) => withLast(fields, name, wrong(fields, name))),
];

/** The wrong value of `repeatedKeys` by itself. */
export const wrongAlone = (name: string): BadBody =>
  bad(`a wrong ${name}`, (fields) => json({ ...fields, [name]: wrong(fields, name) }));

const wrong = (fields: RightFields, name: string): string => `${fields[name] ?? ""}.x`;

/** Objects with their fields in the prototype, where only a careless merge finds them. */
export const inherited: readonly BadBody[] = [
  bad("the fields under __proto__", (fields) => `{"__proto__":${json(fields)}}`),
  bad("the fields under constructor.prototype", (fields) => `{"constructor":{"prototype":${json(fields)}}}`),
];

export const heavy: readonly BadBody[] = [
  bad("an array nested 20000 deep", () => nested("")),
  bad("the last value nested 20000 deep", (fields) => {
    const [name, value] = Object.entries(fields).at(-1) ?? ["", ""];
    return withLast({ ...without(fields, name) }, name, "@").replace('"@"', () =>
      nested(JSON.stringify(value)),
    );
  }),
  bad("an object nested 20000 deep that is never closed", () => '{"a":'.repeat(DEPTH)),
  bad("a last value of 1 MiB", (fields) => {
    const [name, value] = Object.entries(fields).at(-1) ?? ["", ""];
    return JSON.stringify({ ...fields, [name]: value + ".".repeat(MEBIBYTE) });
  }),
  bad("1 MiB that is no JSON", (fields) => json(fields).slice(0, -1) + "x".repeat(MEBIBYTE)),
];

export const without = (fields: RightFields, name: string): RightFields =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
