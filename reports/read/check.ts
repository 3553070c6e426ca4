import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { TSchema } from "typebox";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { ownSchemas } from "../../conformance/contract/schema.ts";

const ajv = new Ajv({ ...ownSchemas, verbose: true });
formats.default(ajv, ["date-time"]);

/**
 * Checks a value against a schema: returns it, or throws ConfigurationError naming the field. `where` names the value's
 * source.
 */
export type Check<T> = (value: unknown, where: string) => T;

/** Compiles the schema on first use, because most commands read only one kind of run. */
export const checkOf = <T>(schema: TSchema): Check<T> => {
  let compiled: ValidateFunction | undefined;
  return (value, where) => {
    compiled ??= ajv.compile(schema);
    if (compiled(value)) return value as T;
    const [first] = (compiled.errors ?? []) as readonly ErrorObject[];
    const field = first?.instancePath.slice(1).replaceAll("/", ".") || "it";
    throw new ConfigurationError(`${where} is damaged: ${field} ${first?.message ?? "has an unknown shape"}`);
  };
};
