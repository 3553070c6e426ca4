import type { Check } from "../contract/check.ts";
import { duration } from "../contract/duration.ts";
import { obtainTokens } from "../world/steps.ts";
import { objectOf } from "../world/exchange.ts";
import { instantMs } from "../world/hooks/hooks.ts";
import type { World } from "../world/world.ts";

/** Far enough to be told from the time that passes meanwhile, and little of any lifetime. */
const MOVE_MS = 60_000;
/** A service may tell its time in whole seconds. */
const COARSE_MS = 1_000;

const toldMs = async (world: World): Promise<number | undefined> => {
  const { timestamp } = objectOf((await obtainTokens(world)).answer);
  return typeof timestamp === "number" ? instantMs(timestamp) : undefined;
};

/**
 * Whether the service's own timestamps (section 4.2) follow what moves its clock, where no hook tells its time: the
 * libfaketime file, or `hooks.clock.advance`. Where they do not, every lifetime would be found too long.
 */
export const checkFollowed = async (world: World, faketimeFile: string | undefined): Promise<Check> => {
  const check = faketimeFile === undefined ? "hooks.clock.advance" : "hooks.clock.faketime";
  const mover = faketimeFile === undefined ? "the hook" : `"${faketimeFile}"`;
  const before = await toldMs(world);
  if (before === undefined)
    return {
      check,
      ok: "skipped",
      message: `the service's answers carry no timestamp, so it could not be verified that its clock follows ${mover}`,
      remedy: "add `hooks.clock.now`, which tells the service's time",
    };
  await world.clock.sleep(MOVE_MS);
  const after = await toldMs(world);
  const moved = `timestamps moved by ${duration(Math.max(0, (after ?? before) - before))} when ${mover} was to move it by ${duration(MOVE_MS)}`;
  if ((after ?? before) - before >= MOVE_MS - COARSE_MS)
    return { check, ok: true, message: `the service's ${moved}` };
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
