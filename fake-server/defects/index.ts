import { accessLifetimeDefects } from "./access-lifetime.ts";
import { accessDefects } from "./access.ts";
import { advisoryDefects } from "./advisory.ts";
import { authorizeDefects } from "./authorize.ts";
import { bodyDefects } from "./bodies.ts";
import { clientDefects } from "./client.ts";
import { codeDefects } from "./code.ts";
import { exchangeDefects } from "./exchange.ts";
import { lifecycleDefects } from "./lifecycle.ts";
import { lifetimeDefects } from "./lifetimes.ts";
import { listDefects } from "./list.ts";
import { loadNotificationDefects } from "./load-notifications.ts";
import { loadPushDefects } from "./load-push.ts";
import { loadRefreshDefects } from "./load-refresh.ts";
import { loadTokenDefects } from "./load-tokens.ts";
import { notificationDefects } from "./notifications.ts";
import { pushAcknowledgementDefects } from "./push-acknowledgement.ts";
import { pushFailureDefects } from "./push-failures.ts";
import { pushPayloadDefects } from "./push-payload.ts";
import { pushScheduleDefects } from "./push-schedule.ts";
import { refreshDefects } from "./refresh.ts";
import { stateDefects } from "./state.ts";
import { unknownDefects } from "./unknown.ts";
import { writeDefects } from "./writes.ts";
import { type Defect, joined, type LoadDefect } from "../registry.ts";

/** Every seeded defect by name, in the order of the document. */
export const defects = joined<Defect>([
  authorizeDefects,
  stateDefects,
  codeDefects,
  lifetimeDefects,
  unknownDefects,
  exchangeDefects,
  clientDefects,
  bodyDefects,
  refreshDefects,
  accessDefects,
  accessLifetimeDefects,
  notificationDefects,
  listDefects,
  writeDefects,
  pushScheduleDefects,
  pushAcknowledgementDefects,
  pushFailureDefects,
  pushPayloadDefects,
  lifecycleDefects,
  advisoryDefects,
]);

/** Defects that only load shows. They are separate because sequential rules are not expected to detect them. */
export const loadDefects = joined<LoadDefect>([
  loadTokenDefects,
  loadRefreshDefects,
  loadNotificationDefects,
  loadPushDefects,
]);
