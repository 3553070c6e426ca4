import { duration } from "../../contract/duration.ts";
import { coarsenessMs, instantMs } from "../hooks/hooks.ts";
import { zoneProblem, ZONE_REMEDY, zoneShiftMs, type FaketimeSetting } from "./faketime-text.ts";

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
