import { shorten } from "../../contract/text.ts";

/** An answer as plain data, which laws judge no matter which client sent the request. */
export interface PlainAnswer {
  readonly status: number;
  /** Fields of the body if it is a JSON object; otherwise none. */
  readonly fields: Fields;
  readonly location?: string | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is a non-empty string, as credentials and codes are. */
export const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const LONGEST_VALUE = 60;

/** A value of an answer, as "it is ..." continues. */
export const shown = (value: unknown): string => {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  // JSON has no Infinity, which a number of many digits is read as.
  return typeof value === "number" ? String(value) : shorten(JSON.stringify(value), LONGEST_VALUE);
};

export const isNumber = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value);
