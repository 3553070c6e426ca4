import { mistaken, skipped, type Check } from "../contract/check.ts";
import { duration, HOUR_MS } from "../contract/duration.ts";
import { stopwatch, type ClockSource } from "../world/clock.ts";
import { freshRefreshTokenWorks } from "../world/controls.ts";
import {
  ControlFailed,
  TransportError,
  credentialsOf,
  mayBeGateways,
  unlessControlFails,
} from "../world/exchange.ts";
import { beginAnew } from "../world/http/retry.ts";
import {
  obtainCode,
  obtainTokens,
  opens,
  present,
  refreshSurely,
  yielded,
  type IssuedCode,
} from "../world/steps.ts";
import { zoneProblem, ZONE_REMEDY } from "../world/time/faketime-text.ts";
import type { World } from "../world/world.ts";
import { flowOf, isExact, lateLooks, movedBetween, shiftOf, type Compared, type Flow } from "./told.ts";

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
const LOOKS = { least: 4, most: 13 } as const;
/** No more looks than the least are begun after this much of this machine's time. */
const LOOKING_MS = 500;

/** What moves the clock, and whether a hook tells its time. */
export interface Moved {
  readonly faketimeFile: string | undefined;
  readonly isTold: boolean;
}

/**
 * Checks whether the service's own timestamps (sections 4.1 and 4.2) follow what moves its clock, if no hook tells its
 * time: the libfaketime file, or `hooks.clock.advance`. If none of them does, every lifetime would seem too long; if
 * only one stands still, that is the service's breach and left to the rules. The document does not say how precise
 * timestamps are: if a minute does not show, an hour does, or the expiry of a code (section 2.1) or token. A program that
 * follows the file late, or reads it in another time zone, would be accused of what it did not do, and is refused. A
 * service of which nothing shows a move, not even a time that stands still, may be one whose clock is not moved or one
 * where nothing ever expires: rules that wait for longer are not judged.
 */
export const checkFollowed = async (
  world: World,
  { faketimeFile, isTold }: Moved,
  clocks: Pick<ClockSource, "followed" | "isFrozen" | "distrust">,
): Promise<Check> => {
  const check = faketimeFile === undefined ? "hooks.clock.advance" : "hooks.clock.faketime";
  const mover = faketimeFile === undefined ? "the hook" : `"${faketimeFile}"`;
  const unseen = (why: string, isLost = false): Check => {
    const message = `${why}, so it could not be verified that its clock follows ${mover}`;
    // Each move is compared with what the hook returns.
    if (isTold) return { check, ok: "skipped", message };
    const remedy = `${howToFollow(faketimeFile)}; or add \`hooks.clock.now\`, which returns the service's time`;
    // A lost answer says nothing about the clock.
    if (!isLost) clocks.distrust?.(`${message}; ${remedy}`, Math.min(MOVE_MS, world.limits.codeLifetimeMs));
    return skipped(check, message, remedy);
  };
  const looked = { check, mover, faketimeFile, unseen };
  const looks: Look[] = [];
  try {
    const before = { ...(await compared(world)), withinMs: 0 };
    looks.push(before);
    if (Object.keys(before.told).length === 0)
      return isTold ? unseen(NO_TIME) : await movedFar(world, looked, before);
    await lookAfterMoves(world, faketimeFile, looks);
    return shownBy(looked, looks, clocks) ?? (await movedFar(world, looked, looks.at(-1) ?? before));
  } catch (error) {
    if (!(error instanceof ControlFailed || error instanceof TransportError)) throw error;
    return (
      shownBy(looked, looks, clocks) ??
      unseen(`the flow failed (${error.message})`, error instanceof TransportError)
    );
  }
};

/**
 * What timestamps show: that the clock follows, or what keeps it from that; undefined if they show no move.
 */
const shownBy = (
  looked: Looked,
  looks: readonly Look[],
  clocks: Pick<ClockSource, "followed" | "isFrozen">,
): Check | undefined => {
  const { check, mover, faketimeFile } = looked;
  const wrong =
    followsLate(looked, looks) ?? (clocks.isFrozen === true ? inOtherZone(check, looks) : undefined);
  if (wrong !== undefined || !showMove(looks)) return wrong;
  clocks.followed?.();
  const movedMs = movedBetween(looks[0]?.told ?? {}, looks[1]?.told ?? {});
  const delay = faketimeFile === undefined ? "" : delayText(looks.slice(1));
  return { check, ok: true, message: `${movedText(movedMs, MOVE_MS, mover)}${delay}` };
};

/** Whether the first of some looks after moves showed one. */
const showMove = ([before, after]: readonly Compared[]): boolean =>
  movedBetween(before?.told ?? {}, after?.told ?? {}) >= MOVE_MS - COARSE_MS;

const NO_TIME = "the service's answers carry no time of day";

export const howToFollow = (faketimeFile: string | undefined): string =>
  faketimeFile === undefined
    ? "compare the hook's address and unit ({{ms}}, {{seconds}}) with what the service expects"
    : `start every process of the service with LD_PRELOAD set to libfaketime.so.1 (libfaketimeMT.so.1 if it has threads), FAKETIME_TIMESTAMP_FILE="${faketimeFile}" and FAKETIME_NO_CACHE=1; programs that do not call libc for the time, such as Go's, cannot be moved this way`;

/** A flow of which an answer is lost starts over with another code. */
const flowSurely = (world: World): Promise<Flow> =>
  beginAnew(
    () => flowOf(world),
    ({ exchange }) => world.evidence.ignoreLoss(exchange),
  );

/** A flow whose code another process refuses may succeed with the next one. */
const compared = async (world: World): Promise<Compared> => {
  const flow = (await unlessControlFails(flowSurely(world), undefined)) ?? (await flowSurely(world));
  return { ...flow, at: await world.clock.now() };
};

/** What was told, and how long after the move before it was begun, in milliseconds of this machine's time. */
type Look = Compared & { readonly withinMs: number };

const lookAfterMove = async (world: World): Promise<Look> => {
  const elapsedMs = stopwatch();
  await world.clock.sleep(MOVE_MS);
  return { ...(await compared(world)), withinMs: elapsedMs() };
};

/** Looks in quick succession at a file, which a program may keep; once at what a hook moves. Adds to `looks` as it goes. */
const lookAfterMoves = async (
  world: World,
  faketimeFile: string | undefined,
  looks: Look[],
): Promise<void> => {
  const { least, most } = faketimeFile === undefined ? { least: 1, most: 1 } : LOOKS;
  const elapsedMs = stopwatch();
  for (let count = 0; count < least || (count < most && elapsedMs() < LOOKING_MS); count += 1)
    looks.push(await lookAfterMove(world));
};

/** Refuses a service that shows some moves of the file only later, or of which a part shows none. */
const followsLate = (
  { check, mover, faketimeFile }: Looked,
  looks: readonly Compared[],
): Check | undefined => {
  if (faketimeFile === undefined) return undefined;
  const told = looks.map((one) => one.told);
  const { asked, late, wentBack } = lateLooks(told, MOVE_MS);
  if (late === 0) return undefined;
  const shown = `${late} of ${asked} timestamps that were asked for right after a move still showed the time before it`;
  return wentBack
    ? mistaken(
        check,
        `a process of the service does not seem to read ${mover}: ${shown}, some of them after answers with a later time`,
        howToFollow(faketimeFile),
      )
    : tooLate(check, mover, shown);
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

/** How soon moves of the file showed, at the latest; nothing of times that are in whole minutes, which need not show one. */
const delayText = (looks: readonly Look[]): string => {
  if (!looks.some(({ told }) => isExact(told))) return "";
  const mostMs = Math.ceil(Math.max(...looks.map(({ withinMs }) => withinMs)));
  return `; each of ${looks.length} moves was shown within ${duration(mostMs)}`;
};

interface Looked {
  readonly check: string;
  readonly mover: string;
  readonly faketimeFile: string | undefined;
  /** The result if nothing can tell, for this reason. */
  readonly unseen: (why: string, isLost?: boolean) => Check;
}

/** What timestamps, or something that expires meanwhile, show of a much longer move. */
const movedFar = async (
  world: World,
  { check, mover, faketimeFile, unseen }: Looked,
  before: Compared,
): Promise<Check> => {
  const askedMs = Math.max(FAR_MOVE_MS, 2 * world.limits.codeLifetimeMs);
  const issued = await obtainCode(world);
  await world.clock.sleep(askedMs);
  const hasEnded = await isRefused(world, issued);
  const after = await flowSurely(world);
  const movedMs = movedBetween(before.told, after.told);
  const hasTime = Object.keys(before.told).length > 0;
  const moved = hasTime ? movedText(movedMs, askedMs, mover) : NO_TIME;
  // Times that are exact to the second would have shown a minute as well, had they followed at once.
  if (movedMs >= askedMs / 2 && faketimeFile !== undefined && isExact(before.told))
    return tooLate(check, mover, `${moved}, but some moves of ${duration(MOVE_MS)} did not show`);
  if (movedMs >= askedMs / 2) return { check, ok: true, message: moved };
  const shown = hasEnded
    ? "a code expired"
    : dateMoved(before, after) >= askedMs / 2
      ? "the Date of its answers moved"
      : await unlessControlFails(tokenEnded(world), undefined);
  if (shown !== undefined)
    return {
      check,
      ok: true,
      message: `${shown} when ${mover} was asked to move its clock, although ${moved}`,
    };
  const nothingEnds = `${moved}, and neither a code nor a token was seen to expire`;
  if (!hasTime) return unseen(nothingEnds);
  return mistaken(
    check,
    `the service's clock does not follow ${mover}: ${nothingEnds}`,
    faketimeFile === undefined
      ? `${howToFollow(faketimeFile)}; if its timestamps come from another clock, add \`hooks.clock.now\``
      : howToFollow(faketimeFile),
  );
};

/** Whether the code gets an answer without tokens; a lost one may have had some. */
const isRefused = async (world: World, { client, code }: IssuedCode): Promise<boolean> => {
  const answer = await present(world, client, code);
  return (
    answer !== undefined && !mayBeGateways(answer) && (await yielded(world, answer, client)) === undefined
  );
};

const dateMoved = (before: Flow, after: Flow): number => (after.dateMs ?? NaN) - (before.dateMs ?? NaN);

/**
 * What of a token set ends long after its end, if a code lives on: then that is the service's breach. Nothing else is
 * issued meanwhile, which some services end earlier tokens for.
 */
const tokenEnded = async (world: World): Promise<string | undefined> => {
  const tokens = await obtainTokens(world);
  await world.clock.sleep(2 * world.limits.refreshTokenLifetimeMs);
  if (!(await opens(world, tokens.accessToken))) return "an accessToken expired";
  const { accessToken } = credentialsOf(await refreshSurely(world, tokens));
  if (accessToken !== undefined && (await opens(world, accessToken))) return undefined;
  await freshRefreshTokenWorks(world, tokens);
  return "a refreshToken expired";
};
