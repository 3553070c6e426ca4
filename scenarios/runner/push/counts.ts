import type { PushSummary } from "../../../conformance/contract/load-record.ts";
import { fold } from "../../../conformance/judging/laws/pages.ts";
import { isAcknowledged } from "../../../conformance/judging/pushes/answer.ts";
import type { TriggeredEvent } from "./judge.ts";
import type { LoadPush } from "./seen.ts";

/**
 * What became of the load's events. The receiver's journal also has pushes of other notifications, such as the one that
 * the preflight triggers, and may have several acknowledged pushes of one notification.
 */
export const countsOf = (
  events: readonly Pick<TriggeredEvent, "notificationId">[],
  pushes: readonly LoadPush[],
  acknowledgedStatus: number,
): Pick<PushSummary, "events" | "pushes" | "acknowledged"> => {
  const triggered = new Set(events.map(({ notificationId }) => fold(notificationId)));
  const own = pushes.filter(({ line }) => triggered.has(fold(line.notificationId)));
  const acknowledged = own.filter((one) => isAcknowledged(one, acknowledgedStatus));
  return {
    events: events.length,
    pushes: own.length,
    acknowledged: new Set(acknowledged.map(({ line }) => fold(line.notificationId))).size,
  };
};
