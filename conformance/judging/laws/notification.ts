import { isoMillisecondsShape, uuidShape } from "../../contract/forms.ts";
import type { Fields } from "./answer.ts";
import type { Breach } from "./breach.ts";

const isString = (value: unknown): boolean => typeof value === "string";
const isUuid = (value: unknown): boolean => typeof value === "string" && uuidShape.test(value);
const isMoment = (value: unknown): boolean => typeof value === "string" && isoMillisecondsShape.test(value);

/** Fields of a notification (section 2.3). Others are allowed: the document does not close the list. */
const forms = [
  { name: "id", form: "a UUID", holds: isUuid },
  { name: "accountId", form: "a UUID", holds: isUuid },
  { name: "createTime", form: "a moment in ISO 8601, in UTC with milliseconds", holds: isMoment },
  { name: "businessType", form: "a string", holds: isString },
  { name: "businessStatus", form: "a string", holds: isString },
  { name: "remark", form: "a string", holds: isString },
  { name: "data", form: "a string", holds: isString },
  { name: "status", form: "a string", holds: isString },
] as const;

export const notificationFields = forms.map(({ name }) => name);

/** A notification has every field of section 2.3 in its form. k6 is slow at iterators, so callbacks are used. */
export const notificationBreach = (item: Fields): Breach | undefined => {
  const wrong = forms.find(({ name, holds }) => !holds(item[name]));
  return wrong === undefined
    ? undefined
    : {
        expected: `${wrong.name} of a notification is ${wrong.form}`,
        actual: `it is ${shown(item[wrong.name])}`,
      };
};

/** A list answer holds total, a whole number, and data, notifications with all fields (section 4.4). */
export const pageShapeBreach = ({ data, total }: Fields): Breach | undefined => {
  if (!Array.isArray(data))
    return { expected: "data of a list answer is an array", actual: `it is ${shown(data)}` };
  if (!Number.isInteger(total) || (total as number) < 0)
    return { expected: "total of a list answer is a whole number", actual: `it is ${shown(total)}` };
  const at = data.findIndex((item) => itemBreach(item) !== undefined);
  const breach = at === -1 ? undefined : itemBreach(data[at]);
  return breach === undefined
    ? undefined
    : { expected: breach.expected, actual: `at data[${at}] ${breach.actual}` };
};

const itemBreach = (item: unknown): Breach | undefined =>
  isObject(item)
    ? notificationBreach(item)
    : { expected: "each item of data is a notification", actual: `it is ${shown(item)}` };

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;

const LONGEST_VALUE = 60;

const shown = (value: unknown): string => {
  if (value === undefined) return "missing";
  if (typeof value !== "object" || value === null) return JSON.stringify(value).slice(0, LONGEST_VALUE);
  return Array.isArray(value) ? "an array" : "an object";
};
