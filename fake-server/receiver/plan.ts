import { validateHeaderName, validateHeaderValue } from "node:http";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { PushAction, PushPlan, type PushRule } from "../../conformance/contract/push.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { ownSchemas } from "../../conformance/contract/schema.ts";

const ajv = new Ajv({ ...ownSchemas, allErrors: true, verbose: true, discriminator: true });
/** Selected by kind, so that a mistake is reported for the intended action rather than for all four. */
const action = { type: "object", discriminator: { propertyName: "kind" }, oneOf: PushAction.anyOf };
const { rules } = PushPlan.properties;
const ruleProperties = { ...rules.items.properties, attempts: { type: "array", minItems: 1, items: action } };
const schema = {
  ...PushPlan,
  properties: {
    rules: { ...rules, items: { ...rules.items, properties: ruleProperties } },
    otherwise: action,
    noNotification: action,
  },
};
/** Compiled with the first plan, because most runs read none. */
let validate: ValidateFunction<PushPlan> | undefined;

/** A longer body of bytes would take days to dribble. */
const LONGEST_DRIBBLE_BYTES = 65_536;
/** Headers that the receiver sets itself. */
const ownHeaders = ["connection", "content-length", "date", "keep-alive", "transfer-encoding", "upgrade"];

/**
 * Parses a plan from untrusted data. Throws ConfigurationError with all problems, each with its key, its value and what
 * is accepted.
 */
export const parsePlan = (data: unknown, source = "plan"): PushPlan => {
  validate ??= ajv.compile<PushPlan>(schema);
  const problems = validate(data) ? planProblems(data) : explain(validate.errors ?? []);
  if (problems.length > 0) throw new ConfigurationError(problems.map((text) => `${source}: ${text}`));
  return data as PushPlan;
};

export const parseRule = (data: unknown): PushRule => {
  try {
    const [rule] = parsePlan({ rules: [data] }, "rule").rules;
    return rule as PushRule;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(
      error.problems.map((text) =>
        text.replace(/^rule: rules\[0\] /, "the rule ").replace(/^rule: rules\[0\][.:] ?/, "rule: "),
      ),
    );
  }
};

/** Constraints that the schema cannot express. */
const planProblems = (plan: PushPlan): string[] => [
  ...plan.rules.flatMap(({ match, attempts }, rule) => [
    ...attempts.flatMap((one, index) => combinationProblems(`rules[${rule}].attempts[${index}]`, one)),
    ...pointerProblems(`rules[${rule}].match.body.pointer`, match.body?.pointer),
  ]),
  ...(["otherwise", "noNotification"] as const).flatMap((key) => {
    const one = plan[key];
    return one === undefined ? [] : combinationProblems(key, one);
  }),
];

/** Combinations that are invalid although each value is valid. */
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
    return `.headers.${shown(name)} cannot be sent as a header; accepted are names and values of RFC 9110`;
  }
  return (
    ownHeaders.includes(name.toLowerCase()) &&
    `.headers.${shown(name)} cannot be set, because the receiver sets it; accepted is any but ${ownHeaders.join(", ")}`
  );
};

const pointerProblems = (key: string, pointer = ""): string[] =>
  /^(\/([^~/]|~[01])*)*$/.test(pointer)
    ? []
    : [`${key} is ${shown(pointer)}; accepted is a JSON pointer such as "/businessType"`];

const explain = (errors: readonly ErrorObject[]): string[] => {
  // An `anyOf` reports each of its branches; its own error names the key and is enough.
  const unions = errors.filter(({ keyword }) => keyword === "anyOf").map(({ instancePath }) => instancePath);
  const reported = errors.filter(
    ({ keyword, instancePath }) =>
      keyword === "anyOf" || !unions.some((union) => instancePath.startsWith(union)),
  );
  return [...new Set(reported.map(explained))];
};

const explained = ({ keyword, instancePath, params, parentSchema, data, schema, message }: ErrorObject) => {
  const key = instancePath
    .replace(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".")
    .replace(/^\./, "");
  const where = key === "" ? "the plan" : key;
  if (parentSchema === action)
    return `${where}.kind is ${shown((data as { kind?: unknown } | null)?.kind)}, no known action; accepted are ${kinds}`;
  switch (keyword) {
    case "additionalProperties": {
      const accepted = Object.keys((parentSchema as { properties?: object }).properties ?? {}).join(", ");
      return `${where}: unknown key ${shown(params["additionalProperty"])}; accepted are ${accepted}`;
    }
    case "required":
      return `${where}: ${shown(params["missingProperty"])} is missing`;
    case "anyOf":
      return `${where} is ${shown(data)}; accepted are ${key.endsWith(".body") ? bodies : constants(schema)}`;
    case "const":
      return `${where} is ${shown(data)}; accepted is ${shown(schema)}`;
    default:
      return `${where} is ${shown(data)}; it ${message ?? "is not accepted"}`;
  }
};

const kinds = PushAction.anyOf.map(({ properties }) => properties.kind.const).join(", ");
const bodies =
  '"acknowledge", "wrong-id", "not-received", "empty", {"text": ...}, {"json": ...} and {"bytes": 1 to 1073741824}';

const constants = (schema: unknown): string =>
  (schema as readonly { const?: unknown }[]).map((one) => shown(one.const)).join(", ");

const shown = (value: unknown): string => {
  const text = value === undefined ? "missing" : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};
