import { safe } from "./safe.ts";

const simple = /^[\p{L}\p{N}_‹›][\p{L}\p{N} _.:/+‹›-]*$/u;

/** A JSON value in as few marks as stay clear: {status: 200, fields: [code, state]}. Safe to print. */
export const compact = (value: unknown): string => {
  if (typeof value === "string") return safe(simple.test(value) ? value : JSON.stringify(value));
  if (Array.isArray(value)) return `[${value.map(compact).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `{${pairs(value)}}`;
};

/** The same without the outermost braces: "status: 200, fields: [code, state]". */
export const compactFields = (value: unknown): string =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    ? pairs(value)
    : compact(value);

const pairs = (value: object): string =>
  Object.entries(value)
    .map(([key, inner]) => `${compact(key)}: ${compact(inner)}`)
    .join(", ");

/** A name from the code as words: "roundsWithoutWinner" gives "rounds without winner". Units stay behind. */
export const words = (name: string): string =>
  name
    .replace(/Ms$/, "")
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase();
