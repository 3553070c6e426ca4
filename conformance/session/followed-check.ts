import type { Check } from "../contract/check.ts";
import { duration, HOUR_MS } from "../contract/duration.ts";
import { ControlFailed, objectOf, TransportError } from "../world/exchange.ts";
import { instantMs } from "../world/hooks/hooks.ts";
import { exchangeable, obtainCode, redeem } from "../world/steps.ts";
import type { World } from "../world/world.ts";

/** Far enough to be told from the time that passes meanwhile, and little of any lifetime. */
const MOVE_MS = 60_000;
/** A service may tell its time in whole seconds. */
const COARSE_MS = 1_000;
/** Where the timestamps do not show that: they may be told to some minutes only. */
const FAR_MOVE_MS = HOUR_MS;

/** What lies outside of these years is no time of day in seconds or milliseconds, and the rules say so. */
const YEARS = { from: Date.UTC(2000), to: Date.UTC(2100) } as const;

/** The moments that authorize and access-token tell, of those that tell one. */
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
 * Whether the service's own timestamps (sections 4.1 and 4.2) follow what moves its clock, where no hook tells its
 * time: the libfaketime file, or `hooks.clock.advance`. Where none of them does, every lifetime would be found too
 * long; where only one of them stands still, that is the service's breach and left to the rules. How finely they tell
 * the time, the document leaves open: where a minute does not show, an hour does, or the end of a code (section 2.1).
 */
export const checkFollowed = async (world: World, faketimeFile: string | undefined): Promise<Check> => {
  const check = faketimeFile === undefined ? "hooks.clock.advance" : "hooks.clock.faketime";
  const mover = faketimeFile === undefined ? "the hook" : `"${faketimeFile}"`;
  const skipped = (why: string): Check => ({
    check,
    ok: "skipped",
    message: `${why}, so it could not be verified that its clock follows ${mover}`,
    remedy: "add `hooks.clock.now`, which tells the service's time",
  });
  try {
    const before = await toldMs(world);
    if (Object.keys(before).length === 0) return skipped("the service's answers carry no time of day");
    await world.clock.sleep(MOVE_MS);
    const after = await toldMs(world);
    const movedMs = movedBetween(before, after);
    if (movedMs >= MOVE_MS - COARSE_MS)
      return { check, ok: true, message: movedText(movedMs, MOVE_MS, mover) };
    return await movedFar(world, { check, mover, faketimeFile, before: after });
  } catch (error) {
    if (!(error instanceof ControlFailed || error instanceof TransportError)) throw error;
    return skipped(`the flow broke off (${error.message})`);
  }
};

type Told = Readonly<Record<string, number>>;

const movedBetween = (before: Told, after: Told): number =>
  Math.max(0, ...Object.entries(before).map(([operation, atMs]) => (after[operation] ?? atMs) - atMs));

const movedText = (movedMs: number, askedMs: number, mover: string): string =>
  `the service's timestamps moved by ${duration(movedMs)} when ${mover} was to move it by ${duration(askedMs)}`;

interface Looked {
  readonly check: string;
  readonly mover: string;
  readonly faketimeFile: string | undefined;
  readonly before: Told;
}

/** What the timestamps, or a code that ends meanwhile, show of a move that is much longer. */
const movedFar = async (world: World, { check, mover, faketimeFile, before }: Looked): Promise<Check> => {
  const askedMs = Math.max(FAR_MOVE_MS, 2 * world.limits.codeLifetimeMs);
  const issued = await obtainCode(world);
  await world.clock.sleep(askedMs);
  const hasEnded = !(await exchangeable(world, issued));
  const movedMs = movedBetween(before, await toldMs(world));
  const moved = movedText(movedMs, askedMs, mover);
  if (movedMs >= askedMs / 2) return { check, ok: true, message: moved };
  if (hasEnded) return { check, ok: true, message: `a code ended meanwhile, though ${moved}` };
  return {
    check,
    ok: false,
    fatal: "configuration",
    message: `the service's clock does not follow ${mover}: ${moved}, and a code of before still works`,
    remedy:
      faketimeFile === undefined
        ? "compare the hook's address and unit ({{ms}}, {{seconds}}) with what the service takes; where its timestamps are of another clock, add `hooks.clock.now`"
        : `start the service with LD_PRELOAD naming libfaketime.so.1 (libfaketimeMT.so.1 where it has threads), FAKETIME_TIMESTAMP_FILE="${faketimeFile}" and FAKETIME_NO_CACHE=1; programs that do not call libc for the time, such as Go's, cannot be moved this way`,
  };
};
