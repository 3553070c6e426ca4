import type { Push } from "../contract/push.ts";
import { madeNotification } from "./notification.ts";

/** The body of a pushed notification. */
export const notificationBody = (id: string, accountId: string): string =>
  JSON.stringify({ ...madeNotification, id, accountId });

/** A push that came at this moment and was answered at once, as in a receiver's journal. */
export const madePush = (
  atMs: number,
  { body = "{}", ...more }: Partial<Push> & Pick<Push, "action">,
): Push => ({
  firstByteMs: atMs,
  completeMs: atMs,
  answeredMs: atMs,
  uncertaintyMs: 0,
  method: "POST",
  path: "/service/webhook",
  headers: [["content-type", "application/json"]],
  body,
  bodyBytes: body.length,
  bodySha256: "same",
  bodyEncoding: "utf8",
  attempt: 1,
  connection: { id: 1, remotePort: 1, request: 1 },
  ...more,
});
