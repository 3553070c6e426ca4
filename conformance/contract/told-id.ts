import { uuidShape } from "./forms.ts";
import { parseJson } from "./json.ts";
import { atPointer } from "./placeholders.ts";

/** Where hooks usually return the id of the notification that they created; the last is the whole answer. */
const usualPlaces = ["/id", "/notificationId", "/data/id", ""];

/** What a hook answered. A hook that is called within the process answers with a value, and no text. */
interface HookAnswer {
  readonly text: string;
  readonly json?: unknown;
}

/**
 * The id of the notification in a trigger hook's answer: at the profile's JSON pointer, otherwise the first UUID in the
 * usual places. Other texts there name something else, such as a job, or nothing ("OK").
 */
export const toldId = (
  { text, json = parseJson(text) }: HookAnswer,
  pointer: string | undefined,
): string | undefined => {
  const answer = json ?? text.trim();
  if (pointer === undefined) return usualPlaces.map((place) => atPointer(answer, place)).find(isUuid);
  const told = atPointer(answer, pointer);
  return typeof told === "string" && told !== "" ? told : undefined;
};

const isUuid = (value: unknown): value is string => typeof value === "string" && uuidShape.test(value);
