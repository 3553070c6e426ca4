import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { TSchema } from "typebox";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { ownSchemas } from "../../conformance/contract/schema.ts";

const ajv = new Ajv({ ...ownSchemas, verbose: true });
formats.default(ajv, ["date-time"]);

/** A check of values against a schema: returns the value, or throws ConfigurationError that names the field. `where` says whose value it is. */
export type Check<T> = (value: unknown, where: string) => T;

/** Compiles the schema when it is first needed: most commands read one kind of run only. */
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
