import { validateHeaderName, validateHeaderValue } from "node:http";
import { Ajv, type ErrorObject } from "ajv";
import { PushAction, PushPlan } from "../../conformance/contract/push.ts";
import { InvalidPlan } from "./problems.ts";

const ajv = new Ajv({ allErrors: true, verbose: true, strict: false });
const kinds = ["answer", "hang", "close", "reset"];
/** One schema a kind, so that a mistake is told of the action that was meant and not of all four. */
const actionOf = Object.fromEntries(
  PushAction.anyOf.map((schema) => [schema.properties.kind.const, ajv.compile(schema)]),
);
/** The plan around the actions. */
const around = ajv.compile({
  ...PushPlan,
  properties: {
    otherwise: {},
    rules: {
      ...PushPlan.properties.rules,
      items: {
        ...PushPlan.properties.rules.items,
        properties: {
          ...PushPlan.properties.rules.items.properties,
          attempts: { type: "array", minItems: 1 },
        },
      },
    },
  },
});

/** A body of bytes longer than this would take days to dribble. */
const LONGEST_DRIBBLE_BYTES = 65_536;
/** What the receiver itself says on the wire. */
const ownHeaders = ["connection", "content-length", "date", "keep-alive", "transfer-encoding", "upgrade"];

/**
 * Reads a plan out of untrusted data. Throws InvalidPlan with everything that is wrong, each with its key,
 * its value and what is accepted.
 */
export const parsePlan = (data: unknown, source = "plan"): PushPlan => {
  const problems = around(data) ? [] : explain(around.errors ?? []);
  // What stands around the actions is wrong: there is no telling where they are.
  if (problems.length === 0) problems.push(...actionsIn(data as Loose).flatMap(actionProblems));
  if (problems.length > 0) throw new InvalidPlan(problems.map((text) => `${source}: ${text}`));
  const plan = data as PushPlan;
  const pointers = plan.rules.flatMap(pointerProblems);
  if (pointers.length > 0) throw new InvalidPlan(pointers.map((text) => `${source}: ${text}`));
  return plan;
};

interface Loose {
  readonly rules: readonly { readonly attempts: readonly unknown[] }[];
  readonly otherwise?: unknown;
}

type Placed = readonly [key: string, action: unknown];

const actionsIn = ({ rules, otherwise }: Loose): Placed[] => [
  ...rules.flatMap(({ attempts }, rule) =>
    attempts.map((action, index): Placed => [`rules[${rule}].attempts[${index}]`, action]),
  ),
  ...(otherwise === undefined ? [] : [["otherwise", otherwise] as const]),
];

const actionProblems = ([key, action]: Placed): string[] => {
  const kind = typeof action === "object" && action !== null && "kind" in action ? action.kind : undefined;
  const validate = typeof kind === "string" && Object.hasOwn(actionOf, kind) ? actionOf[kind] : undefined;
  if (validate === undefined)
    return [`${key}.kind is ${shown(kind)}, no known action; accepted are ${kinds.join(", ")}`];
  return validate(action) ? combinationProblems(key, action) : explain(validate.errors ?? [], key);
};

/** What each value allows, but the values together do not. */
const combinationProblems = (key: string, action: PushAction): string[] => {
  if (action.kind !== "answer") return [];
  const { status = 200, body, gzip, dribbleMs, informational = [], headers = {} } = action;
  const bytes = typeof body === "object" && "bytes" in body ? body.bytes : undefined;
  const bodiless = status === 204 || status === 205 || status === 304;
  const empty = body === "empty" || (bodiless && body === undefined);
  const says = (problem: string | false): string[] => (problem === false ? [] : [`${key}${problem}`]);
  return [
    ...says(
      bodiless &&
        body !== undefined &&
        body !== "empty" &&
        `.body cannot go with status ${status}, which has none; accepted is "empty", or no body`,
    ),
    ...says(
      gzip === true &&
        bytes !== undefined &&
        ".gzip cannot go with a body of bytes, which would shrink to nothing; accepted is one of the two",
    ),
    ...says(gzip === true && empty && ".gzip cannot go with an empty body; accepted is one of the two"),
    ...says(dribbleMs !== undefined && empty && ".dribbleMs needs a body that is not empty"),
    ...says(
      dribbleMs !== undefined &&
        bytes !== undefined &&
        bytes > LONGEST_DRIBBLE_BYTES &&
        `.dribbleMs goes with a body of at most ${LONGEST_DRIBBLE_BYTES} bytes, not ${bytes}`,
    ),
    ...says(
      informational.includes(101) &&
        ".informational: 101 would change the protocol; accepted are 100 and 102 to 199",
    ),
    ...Object.entries(headers).flatMap((header) => says(headerProblem(header))),
  ];
};

const headerProblem = ([name, value]: readonly [string, string]): string | false => {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    return `.headers.${shown(name)} is no header that can be sent; accepted are names and values of RFC 9110`;
  }
  return (
    ownHeaders.includes(name.toLowerCase()) &&
    `.headers.${shown(name)} cannot be set, the receiver says it; accepted is any but ${ownHeaders.join(", ")}`
  );
};

const pointerProblems = ({ match }: PushPlan["rules"][number], rule: number): string[] => {
  const pointer = match.body?.pointer;
  return pointer === undefined || /^(\/([^~/]|~[01])*)*$/.test(pointer)
    ? []
    : [
        `rules[${rule}].match.body.pointer is ${shown(pointer)}; accepted is a JSON pointer such as "/businessType"`,
      ];
};

const explain = (errors: readonly ErrorObject[], base = ""): string[] => {
  // An `anyOf` tells of each of its branches; what it says itself names the key and is enough.
  const unions = errors.filter(({ keyword }) => keyword === "anyOf").map(({ instancePath }) => instancePath);
  const told = errors.filter(
    ({ keyword, instancePath }) =>
      keyword === "anyOf" || !unions.some((union) => instancePath.startsWith(union)),
  );
  return [...new Set(told.map((error) => explained(error, base)))];
};

const explained = (error: ErrorObject, base: string): string => {
  const key =
    base +
    error.instancePath
      .replace(/\/(\d+)(?=\/|$)/g, "[$1]")
      .replaceAll("/", ".")
      .replace(/^\./, base === "" ? "" : ".");
  const where = key === "" ? "the plan" : key;
  const parameters = error.params as Readonly<Record<string, unknown>>;
  if (error.keyword === "additionalProperties")
    return `${where}: unknown key ${shown(parameters["additionalProperty"])}; accepted are ${Object.keys(
      (error.parentSchema as { properties?: object }).properties ?? {},
    ).join(", ")}`;
  if (error.keyword === "required") return `${where}: ${shown(parameters["missingProperty"])} is missing`;
  if (error.keyword === "anyOf" && key.endsWith(".body"))
    return `${where} is ${shown(error.data)}; accepted are "acknowledge", "wrong-id", "not-received", "empty", {"text": ...}, {"json": ...} and {"bytes": 1 to 1073741824}`;
  if (error.keyword === "anyOf")
    return `${where} is ${shown(error.data)}; accepted are ${constants(error.schema)}`;
  if (error.keyword === "const")
    return `${where} is ${shown(error.data)}; accepted is ${shown(error.schema)}`;
  return `${where} is ${shown(error.data)}; it ${error.message ?? "is not accepted"}`;
};

const constants = (schema: unknown): string =>
  (schema as readonly { const?: unknown }[]).map((one) => shown(one.const)).join(", ");

const shown = (value: unknown): string => {
  const text = value === undefined ? "missing" : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};
