import { Ajv2020 } from "ajv/dist/2020.js";
import { endpoints, type Endpoint } from "../contract/forms.ts";
import document from "../contract/openapi.json" with { type: "json" };

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
ajv.addVocabulary(["openapi", "info", "servers", "paths", "webhooks", "components"]);
ajv.addVocabulary(["x-requirements", "x-left-open"]);
ajv.addSchema(document, "contract");

const validatorAt = (steps: readonly string[]) => {
  const pointer = steps
    .map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/");
  const validate = ajv.compile({ $ref: `contract#/${pointer}` });
  return (value: unknown): string | undefined =>
    validate(value) ? undefined : ajv.errorsText(validate.errors);
};

const body = ["content", "application/json", "schema"];

/** How the JSON answer to a valid request violates the OpenAPI document; undefined if it does not. */
export const answerBreach = Object.fromEntries(
  Object.entries(endpoints).map(([name, { method, path }]) => [
    name,
    validatorAt(["paths", path, method.toLowerCase(), "responses", "2XX", ...body]),
  ]),
) as Readonly<Record<Endpoint, ReturnType<typeof validatorAt>>>;

const webhook = ["webhooks", "notification", "post"];

/** The same for the body of a push and for its acknowledgement. */
export const pushBreach = validatorAt([...webhook, "requestBody", ...body]);
export const acknowledgementBreach = validatorAt([...webhook, "responses", "2XX", ...body]);

/** The same for a request parameter. */
export const stateBreach = validatorAt([
  "paths",
  endpoints.authorize.path,
  "get",
  "parameters",
  "1",
  "schema",
]);
