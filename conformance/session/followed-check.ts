import type { Check } from "../contract/check.ts";
import { duration } from "../contract/duration.ts";
import { ControlFailed, objectOf, TransportError } from "../world/exchange.ts";
import { instantMs } from "../world/hooks/hooks.ts";
import { obtainCode, redeem } from "../world/steps.ts";
import type { World } from "../world/world.ts";

/** Far enough to be told from the time that passes meanwhile, and little of any lifetime. */
const MOVE_MS = 60_000;
/** A service may tell its time in whole seconds. */
const COARSE_MS = 1_000;

/** What lies outside of these years is no time of day in seconds or milliseconds, and the rules say so. */
const YEARS = { from: Date.UTC(2000), to: Date.UTC(2100) } as const;

/** The moments that authorize and access-token tell, of those that tell one. */
const toldMs = async (world: World): Promise<Readonly<Record<string, number>>> => {
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
 * long; where only one of them stands still, that is the service's breach and left to the rules.
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
    const movedMs = Object.entries(before).map(([operation, atMs]) => (after[operation] ?? atMs) - atMs);
    return verified(check, mover, faketimeFile, Math.max(0, ...movedMs));
  } catch (error) {
    if (!(error instanceof ControlFailed || error instanceof TransportError)) throw error;
    return skipped(`the flow broke off (${error.message})`);
  }
};

const verified = (check: string, mover: string, faketimeFile: string | undefined, movedMs: number): Check => {
  const moved = `timestamps moved by ${duration(movedMs)} when ${mover} was to move it by ${duration(MOVE_MS)}`;
  if (movedMs >= MOVE_MS - COARSE_MS) return { check, ok: true, message: `the service's ${moved}` };
  return {
    check,
    ok: false,
    fatal: "configuration",
    message: `the service's clock does not follow ${mover}: its ${moved}`,
    remedy:
      faketimeFile === undefined
        ? "compare the hook's address and unit ({{ms}}, {{seconds}}) with what the service takes; where its timestamps are of another clock, add `hooks.clock.now`"
        : `start the service with LD_PRELOAD naming libfaketime.so.1 (libfaketimeMT.so.1 where it has threads), FAKETIME_TIMESTAMP_FILE="${faketimeFile}" and FAKETIME_NO_CACHE=1; programs that do not call libc for the time, such as Go's, cannot be moved this way`,
  };
};
