import { momentOf, uuidShape } from "../../contract/forms.ts";
import { shown, type Fields } from "./answer.ts";
import type { Breach } from "./breach.ts";

const isString = (value: unknown): value is string => typeof value === "string";

/** The possible forms of a notification's fields. */
const forms = {
  uuid: { form: "a UUID", holds: (value: unknown) => isString(value) && uuidShape.test(value) },
  moment: {
    form: "an ISO 8601 time in UTC with milliseconds",
    holds: (value: unknown) => isString(value) && momentOf(value) !== undefined,
  },
  string: { form: "a string", holds: isString },
} as const;

/** Fields of a notification (section 2.3). Others are allowed, because the document does not close the list. */
export const notificationForms = {
  id: "uuid",
  accountId: "uuid",
  createTime: "moment",
  businessType: "string",
  businessStatus: "string",
  remark: "string",
  data: "string",
  status: "string",
} as const satisfies Readonly<Record<string, keyof typeof forms>>;

export const notificationFields = Object.keys(
  notificationForms,
) as readonly (keyof typeof notificationForms)[];

/** The fields that stay as they are. The status may change when a notification is read or acknowledged (section 3.3). */
export const lastingFields = notificationFields.filter((name) => name !== "status");

/** Names of documented fields that changed. */
export const changedFields = (before: Fields, after: Fields): readonly string[] =>
  lastingFields.filter((name) => before[name] !== after[name]);

/** A notification that is read again must have the same fields, except its status. */
export const changeBreach = (before: Fields, after: Fields): Breach | undefined => {
  const changed = changedFields(before, after);
  return changed.length === 0
    ? undefined
    : {
        expected: "a notification has the same fields every time it is read, except status",
        actual: `${changed.join(", ")} changed between two reads`,
      };
};

/** A notification must have every field of section 2.3 in its form. Uses callbacks, because k6 is slow at iterators. */
export const notificationBreach = (item: Fields): Breach | undefined => {
  const wrong = notificationFields.find((name) => !forms[notificationForms[name]].holds(item[name]));
  return wrong === undefined
    ? undefined
    : {
        expected: `${wrong} of a notification is ${forms[notificationForms[wrong]].form}`,
        actual: `it is ${shown(item[wrong])}`,
      };
};

/** A list answer must hold `total`, a whole number, and `data`, an array of complete notifications (section 4.4). */
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
