import { DAY_MS, duration, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../contract/duration.ts";
import { coarsenessMs, instantMs } from "../hooks/hooks.ts";

/** The content of a libfaketime file: an offset from this machine's time, or a moment at which time stands still. */
export type FaketimeSetting =
  | { readonly kind: "offset"; readonly offsetMs: number }
  | { readonly kind: "frozen"; readonly atMs: number };

const UNIT_MS: Readonly<Record<string, number>> = {
  "": SECOND_MS,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  y: 365 * DAY_MS,
};

/** Parses the content of a libfaketime file; undefined if it is something else. */
export const parseFaketime = (text: string): FaketimeSetting | undefined => {
  const [line = ""] = text.split("\n");
  const offset = /^([+-]\d+(?:\.\d+)?)([smhdy]?)$/.exec(line.trim());
  if (offset !== null)
    return { kind: "offset", offsetMs: Number(offset[1]) * (UNIT_MS[offset[2] ?? ""] ?? SECOND_MS) };
  const frozen = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(\.\d+)?$/.exec(line.trim());
  if (frozen === null) return undefined;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = frozen.slice(1, 7).map(Number);
  // libfaketime reads it in the program's time zone; the preflight compares that with this process's.
  const atMs = new Date(year, month - 1, day, hour, minute, second).getTime();
  return Number.isNaN(atMs) ? undefined : { kind: "frozen", atMs: atMs + Number(frozen[7] ?? 0) * 1_000 };
};

const two = (value: number): string => String(value).padStart(2, "0");

/** A moment as a clock on the wall shows it in this process's time zone, to the second. */
export const wallText = (atMs: number): string => {
  const at = new Date(Math.floor(atMs));
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
};

/** The content of a libfaketime file, exact to the microsecond and always of the same length. */
export const faketimeText = (setting: FaketimeSetting): string => {
  if (setting.kind === "offset") {
    const { offsetMs } = setting;
    return `${offsetMs < 0 ? "-" : "+"}${(Math.abs(offsetMs) / 1_000).toFixed(6).padStart(19, "0")}\n`;
  }
  const wholeMs = Math.floor(setting.atMs);
  const microseconds = Math.round((setting.atMs - wholeMs) * 1_000);
  const milliseconds = new Date(wholeMs).getMilliseconds();
  return `${wallText(wholeMs)}.${String(milliseconds).padStart(3, "0")}${String(microseconds).padStart(3, "0")}\n`;
};

/** The time zone in which this process reads and writes moments. */
export const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Whether clocks on the wall show this moment twice, because they are set back in this hour. */
const isShownTwice = (atMs: number): boolean => {
  const [before = 0, after = 0] = [atMs - DAY_MS, atMs + DAY_MS].map((ms) =>
    new Date(ms).getTimezoneOffset(),
  );
  const backMs = (after - before) * MINUTE_MS;
  return backMs !== 0 && [-backMs, backMs].some((byMs) => wallText(atMs + byMs) === wallText(atMs));
};

const REMEDY = "start touchstone and the service with TZ=UTC, or use an offset";

/** Why a moment cannot be told by a text without a zone, with the remedy; undefined if it can. */
export const untellable = (atMs: number): string | undefined =>
  isShownTwice(atMs)
    ? `"${wallText(atMs)}" comes twice in the time zone of this process, ${ownZone()}, as clocks are set back; ${REMEDY}`
    : undefined;

/** Why this content names no moment, or two; undefined if it names one. */
export const unclear = (text: string, setting: FaketimeSetting): string | undefined => {
  if (setting.kind === "offset") return undefined;
  const said = text.trim().slice(0, wallText(setting.atMs).length);
  return said === wallText(setting.atMs)
    ? untellable(setting.atMs)
    : `"${said}" does not exist in the time zone of this process, ${ownZone()}, as clocks are set forward; ${REMEDY}`;
};

const STEP_MS = 15 * MINUTE_MS;
/** Between the zones furthest apart, UTC-12 and UTC+14. */
const FURTHEST_MS = 26 * HOUR_MS;
/** Timestamps may be in whole seconds. */
const COARSE_MS = 2_000;

/** The difference between two time zones that this difference looks like, in milliseconds; undefined if like none. */
export const zoneShiftMs = (differenceMs: number): number | undefined => {
  const shiftMs = Math.round(differenceMs / STEP_MS) * STEP_MS;
  const isShift = shiftMs !== 0 && Math.abs(shiftMs) <= FURTHEST_MS;
  return isShift && Math.abs(differenceMs - shiftMs) <= COARSE_MS ? shiftMs : undefined;
};

const inUtc = (atMs: number): string => new Date(atMs).toISOString();

/** Says that the service reads moments in another zone. */
export const zoneProblem = (toldMs: number, meantMs: number, shiftMs: number): string =>
  `the file says "${wallText(meantMs)}", which is ${inUtc(meantMs)} in the time zone of this process, ${ownZone()}, but the service's timestamps say ${inUtc(toldMs)}, ${duration(Math.abs(shiftMs))} ${shiftMs < 0 ? "earlier" : "later"}: it runs in another time zone`;

export const ZONE_REMEDY =
  'start touchstone with the TZ of the service (best TZ=UTC for both), or write an offset such as "+0" to the file';

/** What the file said since when, by this machine's time. */
interface Move {
  readonly setting: FaketimeSetting;
  readonly wallMs: number;
}

/** More moves than any program keeps what it read from the file. */
const MOVES_KEPT = 200;
/** Smaller differences say nothing, as clocks of containers on one machine agree to this. */
const SLACK_MS = 50;

/**
 * Compares timestamps in answers with what the file says. They show a program that keeps what it once read, and one in
 * another time zone; any other difference is the service's own, and left to the rules. Time moves only while no request
 * is in flight, so an answer's request was sent after the last move.
 */
export const createToldTime = (wallNowMs: () => number) => {
  const moves: Move[] = [];
  let isTrusted = false;
  /** How far timestamps were behind while nothing was wrong. */
  let usualLagMs = 0;

  const lateBy = (atMs: number, coarseMs: number, wallMs: number): number | undefined => {
    const last = moves.at(-1);
    if (last?.setting.kind !== "offset") return undefined;
    const floorMs = last.wallMs + last.setting.offsetMs;
    const lagMs = floorMs - coarseMs - atMs;
    if (lagMs <= usualLagMs + SLACK_MS) return undefined;
    // An earlier content of the file explains the timestamp, at a moment after the move.
    const isOld = moves.slice(0, -1).some(({ setting }) => {
      const byMs = setting.kind === "offset" ? atMs - setting.offsetMs : NaN;
      return byMs + coarseMs >= last.wallMs && byMs <= wallMs + SLACK_MS;
    });
    return isOld ? lagMs : undefined;
  };

  const learn = (atMs: number, wallMs: number): void => {
    const setting = moves.at(-1)?.setting;
    if (setting?.kind !== "offset") return;
    const lagMs = wallMs + setting.offsetMs - atMs;
    usualLagMs = Math.max(usualLagMs, lagMs);
  };

  return {
    /** The file was just written. */
    moved: (setting: FaketimeSetting): void => {
      moves.push({ setting, wallMs: wallNowMs() });
      if (moves.length > MOVES_KEPT) moves.shift();
      // What was learned of a service that does not follow yet says nothing.
      if (!isTrusted) usualLagMs = 0;
    },
    trust: (): void => {
      isTrusted = true;
    },
    /** What a timestamp in an answer shows to be wrong; undefined if nothing. */
    problemOf: (timestamp: number, operation: string): string | undefined => {
      const atMs = instantMs(timestamp);
      const setting = moves.at(-1)?.setting;
      if (atMs === undefined || setting === undefined) return undefined;
      const wallMs = wallNowMs();
      if (!isTrusted) {
        learn(atMs, wallMs);
        return undefined;
      }
      const lagMs = lateBy(atMs, coarsenessMs(timestamp), wallMs);
      if (lagMs !== undefined)
        return `an answer of ${operation} came with a timestamp of ${duration(lagMs)} before the file was last written, so the service follows it late, and nothing that was judged by its clock counts; start each of its processes with FAKETIME_NO_CACHE=1`;
      // Other timestamps may be about something earlier.
      const shiftMs =
        setting.kind === "frozen" && operation === "authorize" ? zoneShiftMs(atMs - setting.atMs) : undefined;
      return setting.kind === "frozen" && shiftMs !== undefined
        ? `${zoneProblem(atMs, setting.atMs, shiftMs)}; ${ZONE_REMEDY}`
        : undefined;
    },
  };
};
