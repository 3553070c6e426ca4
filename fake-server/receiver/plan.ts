import { validateHeaderName, validateHeaderValue } from "node:http";
import { Ajv, type ValidateFunction } from "ajv";
import { type PushAction, PushPlan } from "../../conformance/contract/push.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { ownSchemas } from "../../conformance/contract/schema.ts";
import { explain } from "../../conformance/contract/schema-errors.ts";

const ajv = new Ajv({ ...ownSchemas, allErrors: true, verbose: true });
/** Compiled with the first plan, because most runs read none. */
let validate: ValidateFunction<PushPlan> | undefined;

/** Headers that the receiver sets itself, or never sends: Node throws at a trailer beside a length. */
const ownHeaders = [
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/**
 * Parses a plan from untrusted data. Throws ConfigurationError with all problems, each with its key, its value and what
 * is accepted.
 */
export const parsePlan = (data: unknown, source = "plan"): PushPlan => {
  validate ??= ajv.compile<PushPlan>(PushPlan);
  const problems = validate(data)
    ? planProblems(data)
    : explain(validate.errors ?? [], planValues).map(({ text }) => text);
  if (problems.length > 0) throw new ConfigurationError(problems.map((text) => `${source}: ${text}`));
  return data as PushPlan;
};

/** Constraints that the schema cannot express. */
const planProblems = (plan: PushPlan): string[] => [
  ...plan.rules.flatMap(({ attempts }, rule) =>
    attempts.flatMap((one, index) => combinationProblems(`rules[${rule}].attempts[${index}]`, one)),
  ),
  ...(["otherwise", "noNotification"] as const).flatMap((key) => {
    const one = plan[key];
    return one === undefined ? [] : combinationProblems(key, one);
  }),
];

/** Combinations that are invalid although each value is valid. */
const combinationProblems = (key: string, action: PushAction): string[] => {
  if (action.kind !== "answer") return [];
  const { status = 200, body, informational = [], headers = {} } = action;
  const bodiless = status === 204 || status === 205 || status === 304;
  const isWrong: readonly (readonly [boolean, string])[] = [
    [
      bodiless && body !== undefined && body !== "empty",
      `.body cannot go with status ${status}, which has none; accepted is "empty", or no body`,
    ],
    [
      informational.includes(101),
      ".informational: 101 would change the protocol; accepted are 100 and 102 to 199",
    ],
  ];
  const problems = isWrong.flatMap(([holds, problem]) => (holds ? [problem] : []));
  return [...problems, ...Object.entries(headers).flatMap(headerProblem)].map((problem) => key + problem);
};

const headerProblem = ([name, value]: readonly [string, string]): readonly string[] => {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    return [`.headers.${shown(name)} cannot be sent as a header; accepted are names and values of RFC 9110`];
  }
  if (!ownHeaders.includes(name.toLowerCase())) return [];
  return [
    `.headers.${shown(name)} cannot be set, because the receiver sets it or never sends it; accepted is any but ${ownHeaders.join(", ")}`,
  ];
};

const shown = (value: unknown): string => {
  const text = value === undefined ? "missing" : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

const planValues = { root: "the plan", shown: (_: string, value: unknown): string => shown(value) };
