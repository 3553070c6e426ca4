import type { Deliveries } from "./delivery/deliveries.ts";
import type { Notification } from "./notifications.ts";
import type { Host } from "./server.ts";

export interface BusinessEvent {
  readonly accountId: string;
  /** The client concerned; if absent, every client is. */
  readonly clientId?: string | undefined;
  readonly businessType?: string | undefined;
  readonly businessStatus?: string | undefined;
  readonly remark?: string | undefined;
  readonly data?: string | undefined;
  readonly status?: string | undefined;
}

/**
 * Turns an event into a notification (section 2.3), lists it as soon as it should be visible, and pushes it to the
 * callback if there is one (section 6).
 */
export const raiseEvent = (
  { behaviour, service, counters, deliveries }: Host & { readonly deliveries: Pick<Deliveries, "accept"> },
  event: BusinessEvent,
): Notification => {
  const nowMs = service.clock.nowMs();
  const notification: Notification = {
    id: behaviour.mintNotificationId(service.random, nowMs),
    accountId: event.accountId,
    createTime: behaviour.createTime(nowMs, service),
    businessType: event.businessType ?? "CreateGlobalAccount",
    businessStatus: event.businessStatus ?? "Passed",
    remark: event.remark ?? "",
    data: event.data ?? "",
    status: event.status ?? "readed",
  };
  const owner = behaviour.ownerOf(event.clientId, service);
  const delayMs = behaviour.visibilityDelayMs(service);
  const keep = (): void => behaviour.keepNotification(notification, owner, service);
  if (delayMs > 0) service.clock.schedule(nowMs + delayMs, keep);
  else keep();
  counters.events += 1;
  deliveries.accept(notification);
  return notification;
};
