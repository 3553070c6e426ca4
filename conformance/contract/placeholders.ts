import { fieldOf, parseJson } from "./json.ts";
import { uuidShape } from "./forms.ts";

type Values = Readonly<Record<string, string | number>>;

export const fill = (template: string, values: Values): string =>
  template.replace(/\{\{(\w+)\}\}/g, (whole: string, key: string) =>
    Object.hasOwn(values, key) ? String(values[key]) : whole,
  );

/** Fills strings anywhere in a JSON value. A string that is nothing but a placeholder takes the value's own type. */
export const fillJson = (template: unknown, values: Values): unknown => {
  if (typeof template === "string") {
    const alone = /^\{\{(\w+)\}\}$/.exec(template)?.[1];
    return alone !== undefined && Object.hasOwn(values, alone) ? values[alone] : fill(template, values);
  }
  if (Array.isArray(template)) return template.map((item) => fillJson(item, values));
  if (typeof template === "object" && template !== null)
    return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fillJson(value, values)]));
  return template;
};

/** Fills an address with percent-encoded values. */
export const fillAddress = (template: string, values: Values): string =>
  fill(
    template,
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, encodeURIComponent(value)])),
  );

/** The value at a JSON pointer (RFC 6901); undefined if there is none. */
export const atPointer = (value: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce(fieldOf, value);

/** Where hooks usually return the id of the notification that they created; the last is the whole answer. */
const usualPlaces = ["/id", "/notificationId", "/data/id", ""];

/**
 * The id of the notification in a trigger hook's answer: at the profile's JSON pointer, otherwise the first UUID in the
 * usual places. Other texts there name something else, such as a job, or nothing ("OK").
 */
export const toldId = (
  { text, json = parseJson(text) }: { readonly text: string; readonly json?: unknown },
  pointer: string | undefined,
): string | undefined => {
  const answer = json ?? text.trim();
  if (pointer === undefined) return usualPlaces.map((place) => atPointer(answer, place)).find(isUuid);
  const told = atPointer(answer, pointer);
  return typeof told === "string" && told !== "" ? told : undefined;
};

const isUuid = (value: unknown): value is string => typeof value === "string" && uuidShape.test(value);
