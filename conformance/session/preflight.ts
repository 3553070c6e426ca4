import type { Check } from "../contract/check.ts";
import type { Clock } from "../world/clock.ts";
import { HookError } from "../world/hooks/hooks.ts";
import { newScope } from "../world/evidence/journal.ts";
import { type World, emptyPrepared, type Prepared } from "../world/world.ts";
import { checkCallback } from "./callback-check.ts";
import { checkClients } from "./client-check.ts";
import { checkClock, failedHook, checkReach } from "./reach-check.ts";
import { checkFollowed } from "./followed-check.ts";
import {
  checkNotifications,
  checkListClock,
  checkRefusedLists,
  checkWholeList,
  meaningOfEmptyPage,
  strangerGetsEmptyPage,
} from "./list-checks.ts";
import type { Session } from "./session.ts";

export interface Preflight {
  readonly checks: readonly Check[];
  readonly prepared: Prepared;
}

export interface PreflightOptions {
  readonly notifications: boolean;
  /** Whether pushes are to be watched, for rules that judge them. */
  readonly pushes?: boolean;
}

/**
 * Checks everything that a run depends on before any rule runs: the address, each client, each hook, the notifications
 * to read. Tells a mistake in the profile from a breach by the service; what may be either is left to the rules.
 */
export const preflight = async (session: Session, options: PreflightOptions): Promise<Preflight> => {
  const clock = session.clocks.join();
  const world = session.world(newScope("preflight"), clock, emptyPrepared);
  try {
    const { checks, prepared } = await examine(session, world, clock, options).catch((error: unknown) => ({
      checks: [hookCheckOf(error)],
      prepared: emptyPrepared,
    }));
    const isMistaken = checks.some(({ fatal }) => fatal === "configuration");
    const settled = isMistaken ? await orUnreachable(session, world, checks) : checks;
    // Messages quote answers, which may contain credentials.
    const masked = settled.map((check) => ({ ...check, message: session.secrets.mask(check.message) }));
    return { checks: masked, prepared };
  } finally {
    clock.leave();
  }
};

/** Any request to the target may have to wait on its clock. */
const hookCheckOf = (error: unknown): Check => {
  if (!(error instanceof HookError)) throw error;
  return failedHook(error);
};

/** What fails because the target went away in the meantime shows no mistake in the profile. */
const orUnreachable = async (
  session: Session,
  world: World,
  checks: readonly Check[],
): Promise<readonly Check[]> => {
  const reach = await checkReach(session, world).catch(hookCheckOf);
  if (reach.fatal !== "unreachable") return checks;
  const others = checks.filter(({ check }) => check !== reach.check);
  return [reach, ...others.map(({ check, ok, message }) => ({ check, ok, message }))];
};

const examine = async (
  session: Session,
  world: World,
  clock: Clock,
  options: PreflightOptions,
): Promise<Preflight> => {
  const checks: Check[] = [];
  const mayGoOn = (): boolean => checks.every(({ fatal }) => fatal === undefined);
  const reach = await checkReach(session, world);
  checks.push(reach);
  if (reach.fatal !== undefined) return { checks, prepared: emptyPrepared };

  checks.push(...(await checkClock(session, clock)));
  const clients = await checkClients(world, session.resolved.clients);
  checks.push(...clients.checks);
  const { faketime, advance, now } = session.resolved.profile.hooks?.clock ?? {};
  const isUnseen = faketime !== undefined || (advance !== undefined && now === undefined);
  const moved = { faketimeFile: faketime?.file, isTold: now !== undefined };
  const followed = isUnseen && mayGoOn() ? await checkFollowed(world, moved, session.clocks) : undefined;
  if (followed !== undefined) checks.push(followed);
  if (!mayGoOn()) return { checks, prepared: emptyPrepared };

  const isFar = session.transport.address.health.roundTripMs() >= FAR_MS;
  const isListShown = clients.checks.every(({ ok }) => ok !== false);
  const { accessLifetimeMs } = clients;
  let prepared: Prepared = { ...emptyPrepared, accessLifetimeMs, isFar, isListShown };
  // A service may refuse to list nothing (section 4.4 leaves it open), which would look like a refusal of each token.
  // So may one that shows an empty page to whoever asks.
  const isEmptyForStrangers = await strangerGetsEmptyPage(world);
  if (faketime !== undefined && followed?.ok === true) {
    const emptyPage = isEmptyForStrangers ? ({ emptyPage: "undecided" } as const) : {};
    const list = await checkListClock({ ...world, prepared: { ...prepared, ...emptyPage } }, faketime.file);
    checks.push(...list.checks);
    prepared = { ...prepared, ...list.prepared };
  }
  if (options.notifications || ((!isListShown || isEmptyForStrangers) && session.events !== undefined)) {
    const { check, notifications } = await checkNotifications(session, world);
    const [account] = notifications.accounts;
    const wholeList =
      isListShown || account === undefined ? undefined : await checkWholeList(world, account.accountId);
    checks.push(check, ...(wholeList === undefined ? [] : [wholeList]));
    prepared = { ...prepared, notifications };
  }
  if (isEmptyForStrangers) {
    prepared = { ...prepared, emptyPage: await meaningOfEmptyPage(world, session.resolved.clients) };
  }
  if (mayGoOn()) {
    const lists = await checkRefusedLists({ ...world, prepared }, session.resolved.clients);
    checks.push(...(lists.check === undefined ? [] : [lists.check]));
    prepared = { ...prepared, refusesNothing: lists.refusesNothing };
  }
  // Last, so that notifications created for readers are not pushed as well.
  if (options.pushes === true && mayGoOn()) {
    const callback = await checkCallback(session, clock);
    checks.push(...callback.checks);
    prepared = { ...prepared, ...callback.prepared };
  }
  return { checks, prepared };
};

/** From this round trip on, in milliseconds, the network takes most of a request's time. */
const FAR_MS = 50;
