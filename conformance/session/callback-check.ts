import { isLoopback } from "../contract/text.ts";
import { pushToleranceOf } from "../judging/pushes/readings.ts";
import { mistaken, skipped, type Check } from "../contract/check.ts";
import { duration } from "../contract/duration.ts";
import { given } from "../contract/given.ts";
import type { JournalMark, PushAction, PushLine } from "../contract/push.ts";
import type { Prepared } from "../world/world.ts";
import { failedHook } from "./reach-check.ts";
import { awaitsRetry, checkRetry, isUnderWay } from "./retry-check.ts";
import type { Session } from "./session.ts";
import { monotonicMs, type Clock } from "../world/clock.ts";
import { EventHookFailed, isLostEvent } from "../world/hooks/events.ts";
import { beginAnewAfter } from "../world/http/retry.ts";
import { HookError } from "../world/hooks/hooks.ts";
import { ReceiverError, type Receiver } from "../world/receiver.ts";

export interface CallbackCheck {
  readonly checks: readonly Check[];
  readonly prepared: Pick<Prepared, "pushLagMs" | "unreachableReceiver" | "unmovedRetries">;
}

const CHECK = "hooks.callback.register";
/** The last wait in real time for a push that is due on a moved clock, in milliseconds. */
const LAST_LOOK_MS = 3_000;
/** Real time within which an immediate push arrives from a near target, in milliseconds. */
const SOON_MS = 150;
/** Real time that a push which the target reports to be under way gets before the clock is moved on, in milliseconds. */
const PATIENCE_MS = 5_000;
const STEPS = 6;

/**
 * Registers the callback and has one event pushed to it, before any rule does. If the push does not arrive, says which
 * side is at fault, as far as possible. Whether a service that never connects breaks its promise is left to the rules,
 * unless its address and the receiver's cannot meet.
 */
export const checkCallback = async (session: Session, clock: Clock): Promise<CallbackCheck> => {
  const { receiver, events, registerCallback } = session;
  if (registerCallback === undefined)
    return only(
      skipped(CHECK, "not in the profile: pushes cannot be watched", "add `hooks.callback.register`"),
    );
  if (events === undefined)
    return only(
      skipped(CHECK, "no events can be triggered, so pushes cannot be watched", "add `hooks.events.trigger`"),
    );
  if (receiver === undefined)
    return only(skipped(CHECK, "this run has no receiver", "leave `receiver` out of the profile"));
  try {
    await receiver.certificate("own").catch(() => undefined);
    await receiver.listener("open");
    const acknowledged = { kind: "answer", status: session.acknowledgedStatus } as const;
    const { callbackUrl, ca, ...after } = await receiver.state();
    await registerCallback(callbackUrl, ca ?? "");
    const { startedMs, ...event } = await beginAnewAfter(isLostEvent, () =>
      triggerOne(receiver, events, awaitsRetry(session), acknowledged),
    );
    const seen = await waitForPush(session, receiver, clock, { after, ...event });
    if (seen.arrived !== undefined) {
      const pushLagMs = seen.isSoon ? monotonicMs() - startedMs : SOON_MS;
      const last = seen.lines.at(-1)?.n ?? after.last;
      const retried = await checkRetry(session, receiver, clock, {
        after: { ...after, last },
        lagMs: pushLagMs,
        isOf: (line) => isOf(line, { after, ...event }),
      });
      const arrived = { check: CHECK, ok: true, message: `a push reached ${callbackUrl} (${seen.arrived})` };
      return {
        checks: [arrived, ...retried.checks],
        prepared: {
          pushLagMs: Math.max(pushLagMs, retried.lagMs ?? 0),
          ...given({ unmovedRetries: retried.unmovedRetries }),
        },
      };
    }
    const { message, remedy, isConfiguration } = whoseFault(session, callbackUrl, seen.lines);
    return {
      checks: [{ check: CHECK, ok: false, message, remedy }],
      prepared: isConfiguration ? { unreachableReceiver: `${message}; ${remedy}` } : {},
    };
  } catch (error) {
    if (error instanceof ReceiverError)
      return only(
        mistaken(
          "receiver",
          error.message.replace(/^the receiver: /, ""),
          error.remedy ?? "check `receiver` in the profile, and that the receiver is running",
        ),
      );
    if (!(error instanceof HookError) || error instanceof EventHookFailed) throw error;
    return only(failedHook(error));
  }
};

/** Triggers an event; its first push fails if a retry is awaited, which shows the sender's clock. */
const triggerOne = async (
  receiver: Receiver,
  events: NonNullable<Session["events"]>,
  isRetried: boolean,
  acknowledged: PushAction,
) => {
  const triggered = { accountId: events.account(), startedMs: monotonicMs() };
  const attempts: PushAction[] = [{ kind: "answer", status: 500 }, acknowledged];
  const rules = isRetried ? [{ match: { accountId: triggered.accountId }, attempts }] : [];
  await receiver.plan({ rules, otherwise: acknowledged });
  return { ...triggered, id: await events.trigger(triggered.accountId) };
};

const only = (check: Check): CallbackCheck => ({ checks: [check], prepared: {} });

interface Awaited {
  readonly after: Pick<JournalMark, "epoch" | "last">;
  readonly id: string | undefined;
  readonly accountId: string;
}

/** Waits for the push in real time, and then, since the first push may be a delayed one, for the first delay and its lateness. */
const waitForPush = async (session: Session, receiver: Receiver, clock: Clock, awaited: Awaited) => {
  const lines: PushLine[] = [];
  const look = async (waitMs: number): Promise<boolean> => {
    const last = lines.at(-1)?.n ?? awaited.after.last;
    const fresh = await receiver.pushes({ ...awaited.after, last }, waitMs);
    lines.push(...fresh);
    return fresh.some((line) => line.kind === "push" && isOf(line, awaited));
  };
  const startedMs = monotonicMs();
  while (monotonicMs() - startedMs < SOON_MS)
    if (await look(SOON_MS / 3)) return { arrived: "at once", isSoon: true, lines };
  const { limits, resolved } = session;
  const { latenessMs } = pushToleranceOf(limits, clock.kind, resolved.profile.tolerances?.latenessMs);
  const stepMs = ((limits.pushDelaysMs[0] ?? 0) + latenessMs) / STEPS;
  const isMoved = clock.kind === "virtual";
  let lastStep = STEPS;
  for (let step = 1; step <= lastStep; step += 1) {
    // A first handshake may take long in real time, and a timeout on the target's clock would end it.
    let hasArrived = false;
    while (!hasArrived && monotonicMs() - startedMs < PATIENCE_MS && (await isUnderWay(session)))
      hasArrived = await look(SOON_MS / 3);
    if (hasArrived && step === 1)
      return { arrived: `${duration(monotonicMs() - startedMs)} after its event`, isSoon: false, lines };
    if (!hasArrived) await clock.sleep(stepMs);
    // On a moved clock the push is due by the last step, but on a busy machine it may still be on its way in real time.
    hasArrived ||= await look(isMoved ? SOON_MS / 3 : 0);
    // A connection that failed is repeated after the first delay.
    if (lastStep === STEPS && lines.some(({ kind }) => kind === "fault")) lastStep += step;
    hasArrived ||= isMoved && step === lastStep && (await look(LAST_LOOK_MS));
    if (hasArrived)
      return { arrived: `within ${duration(step * stepMs)} of its event`, isSoon: false, lines };
  }
  return { arrived: undefined, isSoon: false, lines };
};

/** Whether a request belongs to this event, or may: one that names nothing also proves that the receiver is reachable. */
const isOf = (
  { notificationId, accountId, action }: Extract<PushLine, { kind: "push" }>,
  awaited: Awaited,
): boolean =>
  action !== "not-a-push" &&
  (notificationId === undefined ||
    notificationId.toLowerCase() === awaited.id?.toLowerCase() ||
    accountId?.toLowerCase() === awaited.accountId.toLowerCase());

const whoseFault = (
  session: Session,
  callbackUrl: string,
  lines: readonly PushLine[],
): { readonly message: string; readonly remedy: string; readonly isConfiguration: boolean } => {
  const { baseUrl } = session.resolved.profile;
  const stray = lines.find((line) => line.kind === "push");
  if (stray?.kind === "push")
    return {
      message: `the event was not pushed to ${callbackUrl} as it should be: ${stray.method} ${stray.path} came instead`,
      remedy: "compare the address that hooks.callback.register sends with the one that the service stored",
      isConfiguration: false,
    };
  const fault = lines.find((line) => line.kind === "fault");
  if (fault?.kind === "fault")
    return {
      message: `the service reached the receiver at ${callbackUrl}, but no push came through: ${fault.message}`,
      remedy:
        "make the service trust the receiver's certificate ({{ca}} in hooks.callback.register, or receiver.listen.certificate)",
      isConfiguration: /tls|ssl|handshake|certificate|alert/i.test(fault.message),
    };
  const [isOwnCallback, isOwnTarget] = [callbackUrl, baseUrl].map((url) => isLoopback(new URL(url).hostname));
  if (isOwnCallback && !isOwnTarget)
    return {
      message: `the service at ${baseUrl} never connected to ${callbackUrl}, which only this machine can reach`,
      remedy:
        "set receiver.listen.host to an address that the service can reach, or attach a receiver that runs there",
      isConfiguration: true,
    };
  if (!isOwnTarget)
    return {
      message: `no connection from the service at ${baseUrl} reached the receiver at ${callbackUrl}, which is listening: either the network blocks it, or the service does not push`,
      remedy: "call the callback address from the service's machine by hand",
      isConfiguration: false,
    };
  const { faketime } = session.resolved.profile.hooks?.clock ?? {};
  if (faketime !== undefined)
    return {
      message: `the receiver at ${callbackUrl} is listening, but the service never connected to it: either its sender does not read "${faketime.file}", so that nothing is due for it yet, or it does not push`,
      remedy:
        "start the process that sends pushes with LD_PRELOAD, FAKETIME_TIMESTAMP_FILE and FAKETIME_NO_CACHE=1 too, and look for the push in its log",
      isConfiguration: true,
    };
  return {
    message: `the receiver at ${callbackUrl} is listening, but the service never connected to it`,
    remedy: "look for the push in the service's own log",
    isConfiguration: false,
  };
};
