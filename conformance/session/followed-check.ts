import { mistaken, skipped, type Check } from "../contract/check.ts";
import { duration, HOUR_MS } from "../contract/duration.ts";
import { ControlFailed, objectOf, TransportError } from "../world/exchange.ts";
import { instantMs } from "../world/hooks/hooks.ts";
import { exchangeable, obtainCode, redeem } from "../world/steps.ts";
import type { World } from "../world/world.ts";

/** Far enough to be distinguished from the time that passes meanwhile, and a small part of any lifetime. */
const MOVE_MS = 60_000;
/** A service may tell its time in whole seconds. */
const COARSE_MS = 1_000;
/** For timestamps that do not show that: they may be accurate to minutes only. */
const FAR_MOVE_MS = HOUR_MS;

/** Times outside these years are not times of day in seconds or milliseconds; the rules report that. */
const YEARS = { from: Date.UTC(2000), to: Date.UTC(2100) } as const;

/** The times in the answers of authorize and access-token, as far as they have one. */
const toldMs = async (world: World): Promise<Told> => {
  const issued = await obtainCode(world);
  const tokens = await redeem(world, issued.code);
  const told = Object.entries({ authorize: issued.answer, exchange: tokens.answer }).flatMap(
    ([operation, answer]) => {
      const { timestamp } = objectOf(answer);
      const atMs = typeof timestamp === "number" ? instantMs(timestamp) : undefined;
      return atMs !== undefined && atMs > YEARS.from && atMs < YEARS.to ? [[operation, atMs] as const] : [];
    },
  );
  return Object.fromEntries(told);
};

/**
 * Checks whether the service's own timestamps (sections 4.1 and 4.2) follow what moves its clock, if no hook tells its
 * time: the libfaketime file, or `hooks.clock.advance`. If none of them does, every lifetime would seem too long; if
 * only one stands still, that is the service's breach and left to the rules. The document does not say how precise
 * timestamps are: if a minute does not show, an hour does, or the expiry of a code (section 2.1).
 */
export const checkFollowed = async (world: World, faketimeFile: string | undefined): Promise<Check> => {
  const check = faketimeFile === undefined ? "hooks.clock.advance" : "hooks.clock.faketime";
  const mover = faketimeFile === undefined ? "the hook" : `"${faketimeFile}"`;
  const unseen = (why: string): Check =>
    skipped(
      check,
      `${why}, so it could not be verified that its clock follows ${mover}`,
      "add `hooks.clock.now`, which returns the service's time",
    );
  try {
    const before = await toldMs(world);
    if (Object.keys(before).length === 0) return unseen("the service's answers carry no time of day");
    await world.clock.sleep(MOVE_MS);
    const after = await toldMs(world);
    const movedMs = movedBetween(before, after);
    if (movedMs >= MOVE_MS - COARSE_MS)
      return { check, ok: true, message: movedText(movedMs, MOVE_MS, mover) };
    return await movedFar(world, { check, mover, faketimeFile, before: after });
  } catch (error) {
    if (!(error instanceof ControlFailed || error instanceof TransportError)) throw error;
    return unseen(`the flow failed (${error.message})`);
  }
};

type Told = Readonly<Record<string, number>>;

const movedBetween = (before: Told, after: Told): number =>
  Math.max(0, ...Object.entries(before).map(([operation, atMs]) => (after[operation] ?? atMs) - atMs));

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
