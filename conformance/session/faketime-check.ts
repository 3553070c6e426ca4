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

const NAME = "hooks.clock.faketime";

const toldMs = async (world: World): Promise<number | undefined> => {
  const { timestamp } = objectOf((await obtainTokens(world)).answer);
  return typeof timestamp === "number" ? instantMs(timestamp) : undefined;
};

/**
 * Whether the service's own timestamps (section 4.2) follow the libfaketime file. Where they do not, every lifetime
 * would be found too long.
 */
export const checkFaketime = async (world: World, file: string): Promise<Check> => {
  const before = await toldMs(world);
  if (before === undefined)
    return {
      check: NAME,
      ok: "skipped",
      message:
        "the service's answers carry no timestamp, so it could not be verified that its clock follows the file",
      remedy: "add `hooks.clock.now`, which tells the service's time",
    };
  await world.clock.sleep(MOVE_MS);
  const after = await toldMs(world);
  const movedMs = (after ?? before) - before;
  if (movedMs >= MOVE_MS - COARSE_MS)
    return {
      check: NAME,
      ok: true,
      message: `the service's timestamps moved by ${duration(movedMs)} when "${file}" was moved by ${duration(MOVE_MS)}`,
    };
  return {
    check: NAME,
    ok: false,
    fatal: "configuration",
    message: `the service's clock does not follow "${file}": its timestamps moved by ${duration(Math.max(0, movedMs))} when the file was moved by ${duration(MOVE_MS)}`,
    remedy: `start the service with LD_PRELOAD naming libfaketime.so.1 (libfaketimeMT.so.1 where it has threads), FAKETIME_TIMESTAMP_FILE="${file}" and FAKETIME_NO_CACHE=1; programs that do not call libc for the time, such as Go's, cannot be moved this way`,
  };
};
