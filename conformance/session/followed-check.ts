import { mistaken, skipped, type Check } from "../contract/check.ts";
import { duration, HOUR_MS } from "../contract/duration.ts";
import { stopwatch, type ClockSource } from "../world/clock.ts";
import { ControlFailed, TransportError } from "../world/exchange.ts";
import { exchangeable, obtainCode } from "../world/steps.ts";
import { zoneProblem, ZONE_REMEDY } from "../world/time/faketime-text.ts";
import type { World } from "../world/world.ts";
import { isExact, lateLooks, movedBetween, shiftOf, toldMs, type Compared, type Told } from "./told.ts";

/** Far enough to be distinguished from the time that passes meanwhile, and a small part of any lifetime. */
const MOVE_MS = 60_000;
/** A service may tell its time in whole seconds. */
const COARSE_MS = 1_000;
/** For timestamps that do not show that: they may be accurate to minutes only. */
const FAR_MOVE_MS = HOUR_MS;

/**
 * How often the file is moved and the service asked right after it. A program that keeps what it read shows the old time
 * in the second of two questions within the time that it keeps it, so a few in quick succession are enough for one, and
 * more for several behind one address.
 */
const LOOKS = { least: 3, most: 12 } as const;
/** No more looks than the least are begun after this much of this machine's time. */
const LOOKING_MS = 500;

/**
 * Checks whether the service's own timestamps (sections 4.1 and 4.2) follow what moves its clock, if no hook tells its
 * time: the libfaketime file, or `hooks.clock.advance`. If none of them does, every lifetime would seem too long; if
 * only one stands still, that is the service's breach and left to the rules. The document does not say how precise
 * timestamps are: if a minute does not show, an hour does, or the expiry of a code (section 2.1). A program that follows
 * the file late, or reads it in another time zone, would be accused of what it did not do, and is refused.
 */
export const checkFollowed = async (
  world: World,
  faketimeFile: string | undefined,
  clocks: Pick<ClockSource, "followed" | "isFrozen">,
): Promise<Check> => {
  const check = faketimeFile === undefined ? "hooks.clock.advance" : "hooks.clock.faketime";
  const mover = faketimeFile === undefined ? "the hook" : `"${faketimeFile}"`;
  const unseen = (why: string): Check =>
    skipped(
      check,
      `${why}, so it could not be verified that its clock follows ${mover}`,
      "add `hooks.clock.now`, which returns the service's time",
    );
  const told = { check, mover, faketimeFile, before: {} };
  try {
    const before = await compared(world);
    if (Object.keys(before.told).length === 0) return unseen("the service's answers carry no time of day");
    await world.clock.sleep(MOVE_MS);
    const after = await compared(world);
    const looks = [before, after, ...(faketimeFile === undefined ? [] : await lookQuickly(world))];
    const found =
      followsLate({ ...told, before: before.told }, looks) ??
      (clocks.isFrozen === true ? inOtherZone(check, looks) : undefined);
    if (found !== undefined) return found;
    const movedMs = movedBetween(before.told, after.told);
    if (movedMs < MOVE_MS - COARSE_MS)
      return await movedFar(world, { ...told, before: looks.at(-1)?.told ?? after.told });
    clocks.followed?.();
    return { check, ok: true, message: movedText(movedMs, MOVE_MS, mover) };
  } catch (error) {
    if (!(error instanceof ControlFailed || error instanceof TransportError)) throw error;
    return unseen(`the flow failed (${error.message})`);
  }
};

const compared = async (world: World): Promise<Compared> => {
  const told = await toldMs(world);
  return { told, at: await world.clock.now() };
};

const lookQuickly = async (world: World): Promise<readonly Compared[]> => {
  const looks: Compared[] = [];
  const elapsedMs = stopwatch();
  while (looks.length < LOOKS.least || (looks.length < LOOKS.most && elapsedMs() < LOOKING_MS)) {
    await world.clock.sleep(MOVE_MS);
    looks.push(await compared(world));
  }
  return looks;
};

/** Refuses a service that shows some moves of the file only later. */
const followsLate = (
  { check, mover, faketimeFile }: Looked,
  looks: readonly Compared[],
): Check | undefined => {
  if (faketimeFile === undefined) return undefined;
  const { asked, late } = lateLooks(
    looks.map(({ told }) => told),
    MOVE_MS,
  );
  return late === 0
    ? undefined
    : tooLate(
        check,
        mover,
        `${late} of ${asked} timestamps that were asked for right after a move still showed the time before it`,
      );
};

const tooLate = (check: string, mover: string, shown: string): Check =>
  mistaken(
    check,
    `the service follows ${mover} late: ${shown}`,
    "start every process of the service with FAKETIME_NO_CACHE=1, without which libfaketime keeps what it read (for FAKETIME_CACHE_DURATION seconds, by default 10)",
  );

const inOtherZone = (check: string, looks: readonly Compared[]): Check | undefined => {
  const found = shiftOf(looks);
  return found === undefined
    ? undefined
    : mistaken(check, zoneProblem(found.toldMs, found.meantMs, found.shiftMs), ZONE_REMEDY);
};

const movedText = (movedMs: number, askedMs: number, mover: string): string =>
  `the service's timestamps moved by ${duration(movedMs)} when ${mover} was asked to move it by ${duration(askedMs)}`;

interface Looked {
  readonly check: string;
  readonly mover: string;
  readonly faketimeFile: string | undefined;
  readonly before: Told;
}

/** What timestamps, or a code that expires meanwhile, show of a much longer move. */
const movedFar = async (world: World, { check, mover, faketimeFile, before }: Looked): Promise<Check> => {
  const askedMs = Math.max(FAR_MOVE_MS, 2 * world.limits.codeLifetimeMs);
  const issued = await obtainCode(world);
  await world.clock.sleep(askedMs);
  const hasEnded = !(await exchangeable(world, issued));
  const movedMs = movedBetween(before, await toldMs(world));
  const moved = movedText(movedMs, askedMs, mover);
  // Times that are exact to the second would have shown a minute as well, had they followed at once.
  if (movedMs >= askedMs / 2 && faketimeFile !== undefined && isExact(before))
    return tooLate(check, mover, `${moved}, but some moves of ${duration(MOVE_MS)} did not show`);
  if (movedMs >= askedMs / 2) return { check, ok: true, message: moved };
  if (hasEnded) return { check, ok: true, message: `a code expired meanwhile, although ${moved}` };
  return mistaken(
    check,
    `the service's clock does not follow ${mover}: ${moved}, and an earlier code still works`,
    faketimeFile === undefined
      ? "compare the hook's address and unit ({{ms}}, {{seconds}}) with what the service expects; if its timestamps come from another clock, add `hooks.clock.now`"
      : `start the service with LD_PRELOAD set to libfaketime.so.1 (libfaketimeMT.so.1 if it has threads), FAKETIME_TIMESTAMP_FILE="${faketimeFile}" and FAKETIME_NO_CACHE=1; programs that do not call libc for the time, such as Go's, cannot be moved this way`,
  );
};
