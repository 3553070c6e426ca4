import type { TSchema } from "typebox";
import { LoadBreach, LoadRecord, SecondLine } from "../conformance/contract/load-record.ts";
import { ExchangeLine, RuleLine, RunRecord } from "../conformance/contract/record.ts";
import { StoredComparison } from "./compare/shape.ts";
import { DuetDocument } from "./duet/document.ts";
import type { SchemaName } from "./formats.ts";

const schemas = {
  conform: RunRecord,
  load: LoadRecord,
  duet: DuetDocument,
  comparison: StoredComparison,
  exchange: ExchangeLine,
  rule: RuleLine,
  second: SecondLine,
  breach: LoadBreach,
} satisfies Record<SchemaName, TSchema>;

/** The JSON Schema (draft 7) of a record, or of the lines of a file beside it. */
export const schemaOf = (name: SchemaName): Readonly<Record<string, unknown>> => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  ...(JSON.parse(JSON.stringify(schemas[name])) as Record<string, unknown>),
});
