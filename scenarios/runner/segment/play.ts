import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { exitCodes } from "../../../conformance/contract/exit-codes.ts";
import { asRecord } from "../../../conformance/contract/given.ts";
import type { Segment, ClockReading } from "../../../conformance/contract/segments.ts";
import type { LoadResult } from "../collect/collect.ts";
import type { LoadContext, LoadPlan } from "../context.ts";
import { segmentOf } from "../header.ts";
import type { LoadFinal } from "../record.ts";
import type { SegmentPlan } from "../segment-plan.ts";
import { earlyOutcome, verdictsOf } from "../verdicts.ts";
import { readFileSync } from "node:fs";
import { Agent, request } from "undici";
import { errorMessage } from "../../../conformance/contract/text.ts";
import type { RunnerClock } from "../clock.ts";

/** Plays one segment, between two readings of the target's clock, unless the start has already passed. */
export const playSegment = async (
  context: LoadContext,
  plan: LoadPlan,
  segmentPlan: SegmentPlan,
  play: () => Promise<LoadResult>,
): Promise<LoadFinal> => {
  const { target, clock, signal, onPhase } = context;
  onPhase?.("reading the target's clock");
  const segment: Segment = {
    ...segmentOf(target, segmentPlan),
    clock: { before: await readClock(context) },
  };
  const lateMs = clock.wallTime().getTime() - segmentPlan.startAtMs;
  const endedAt = (): string => clock.wallTime().toISOString();
  if (lateMs >= 0) return { endedAt: endedAt(), segment: { ...segment, lateMs }, ...lateEnd(lateMs) };
  onPhase?.(`waiting for the start at ${segment.startAt}`);
  const result = await play();
  onPhase?.("reading the target's clock");
  const after = await readClock(context);
  onPhase?.(undefined);
  const verdicts = verdictsOf(context, plan, result, {});
  return sealedSegment(verdicts, { ...segment, clock: { ...segment.clock, after } }, result, signal.aborted);
};

/**
 * The end of a segment. The data for judging stays in the record for the merge, which alone gives the verdict: a
 * segment played to its end has no outcome, and exit code 0.
 */
export const sealedSegment = (
  verdicts: LoadFinal,
  segment: Segment,
  result: LoadResult,
  isInterrupted: boolean,
): LoadFinal => {
  const { setUp, startedAtMs, lag } = result;
  const lateMs = setUp !== undefined && setUp.lateMs > 0 ? setUp.lateMs : undefined;
  const told = asRecord<Segment>({
    ...segment,
    beganAtMs: lateMs === undefined ? startedAtMs : undefined,
    setUpMs: setUp?.tookMs,
    lateMs,
    lag: encodeIntoCompressedBase64(lag),
  });
  const { outcome: _, ...rest } = verdicts;
  const sealed = { ...rest, objectives: [], segment: told };
  if (lateMs !== undefined) return { ...sealed, ...lateEnd(lateMs) };
  const outcome = earlyOutcome(result, isInterrupted);
  return { ...sealed, exitCode: exitCodes[outcome ?? "passed"], ...(outcome && { outcome }) };
};

/** The end of a segment whose set-up took longer than the others waited. */
const lateEnd = (lateMs: number) => {
  const stopped = `its set-up outlasted the start by ${(lateMs / 1_000).toFixed(1)} s, so it played no load; choose a later --start-at`;
  return { stopped, outcome: "incomplete" as const, exitCode: exitCodes.incomplete };
};

/** The Date of one answer; undefined for a cached answer, whose Date is the time it was stored. */
type AskDate = () => Promise<number | undefined>;

/** First requests spread over a second, so that two neighbours see the Date change. */
const COARSE_LOOKS = 20;
const COARSE_EVERY_MS = 1_000 / COARSE_LOOKS;
/** Then requests around the next edges, each spread over the remaining bounds. */
const EDGES = 2;
const LOOKS_AT_AN_EDGE = 20;
const GOOD_ENOUGH_MS = 2;

/** Reads the target's clock from the Date of its answers: about fifty requests in three seconds. */
const readClock = async ({ target, environment, clock, signal }: LoadContext): Promise<ClockReading> => {
  const asker = dateAsker(target.profile.baseUrl, environment["SSL_CERT_FILE"]);
  try {
    return await readBy(asker.ask, clock, signal);
  } finally {
    await asker.close();
  }
};

export const readBy = async (
  ask: AskDate,
  clock: Pick<RunnerClock, "wallTime" | "sleep">,
  signal: AbortSignal,
): Promise<ClockReading> => {
  const looks: DateLook[] = [];
  const nowMs = (): number => clock.wallTime().getTime();
  const look = async (): Promise<void> => {
    const sentMs = nowMs();
    const dateMs = await ask();
    // The wall clock is read in whole milliseconds, truncated.
    if (dateMs !== undefined) looks.push({ sentMs, receivedMs: nowMs() + 1, dateMs });
  };
  try {
    for (let count = 0; count < COARSE_LOOKS; count += 1) {
      await look();
      await clock.sleep(COARSE_EVERY_MS, signal);
    }
    for (let edge = 0; edge < EDGES && looks.length > 0; edge += 1) {
      const { leastMs, mostMs } = openBounds(looks);
      const openMs = mostMs - leastMs;
      if (openMs <= GOOD_ENOUGH_MS) break;
      const edgeMs = nextEdgeMs(looks, nowMs() + openMs);
      await clock.sleep(Math.max(0, edgeMs - openMs / 2 - nowMs()), signal);
      while (nowMs() <= edgeMs + openMs / 2) {
        await look();
        await clock.sleep(openMs / LOOKS_AT_AN_EDGE, signal);
      }
    }
    return offsetFrom(looks);
  } catch (error) {
    return { ...offsetFrom([], errorMessage(error)), looks: looks.length };
  }
};

/** Uses one kept connection, because a new one would add its own time to the error. */
const dateAsker = (baseUrl: string, authority: string | undefined) => {
  const agent = new Agent({
    connections: 1,
    headersTimeout: ANSWER_MS,
    ...(authority !== undefined && { connect: { ca: readFileSync(authority) } }),
  });
  const ask: AskDate = async () => {
    const { headers, body } = await request(baseUrl, { dispatcher: agent, method: "HEAD" });
    await body.dump();
    const dateMs = headers["age"] === undefined ? Date.parse(String(headers["date"])) : Number.NaN;
    return Number.isNaN(dateMs) ? undefined : dateMs;
  };
  return { ask, close: () => agent.destroy() };
};

const ANSWER_MS = 5_000;

/**
 * An answer with a Date, and this machine's clock readings before the request and after the answer. Milliseconds since
 * 1970.
 */
interface DateLook {
  readonly sentMs: number;
  readonly receivedMs: number;
  /** The Date of the answer: whole seconds. */
  readonly dateMs: number;
}

/** Backends whose clocks differ by less count as one, and the difference as error. */
const MOST_DISAGREEMENT_MS = 100;

/**
 * Bounds of the offset (target's clock minus this machine's) given all answers: a Date is truncated to its second.
 * `leastMs` exceeds `mostMs` if answers contradict each other.
 */
const openBounds = (looks: readonly DateLook[]): { readonly leastMs: number; readonly mostMs: number } => ({
  leastMs: Math.max(...looks.map(({ dateMs, receivedMs }) => dateMs - receivedMs)),
  mostMs: Math.min(...looks.map(({ dateMs, sentMs }) => dateMs + 1_000 - sentMs)),
});

/**
 * The offset with its error. Answers are enough to read a clock: a client that sees the Date change from one second to
 * the next knows the target's clock to within the time the answers took.
 */
export const offsetFrom = (looks: readonly DateLook[], failure?: string): ClockReading => {
  if (looks.length === 0) return { looks: 0, unknown: failure ?? "no answer had a Date" };
  const { leastMs, mostMs } = openBounds(looks);
  const disagreementMs = leastMs - mostMs;
  if (disagreementMs > MOST_DISAGREEMENT_MS)
    return {
      looks: looks.length,
      unknown: `answers disagree by ${Math.round(disagreementMs)} ms, like those of several machines with different clocks`,
    };
  return {
    offsetMs: (leastMs + mostMs) / 2,
    errorMs: Math.abs(mostMs - leastMs) / 2,
    looks: looks.length,
  };
};

/**
 * When to send the next request: when the target's clock reaches the next second, by the middle of the remaining
 * bounds.
 */
const nextEdgeMs = (looks: readonly DateLook[], nowMs: number): number => {
  const { leastMs, mostMs } = openBounds(looks);
  const offsetMs = (leastMs + mostMs) / 2;
  return Math.ceil((nowMs + offsetMs) / 1_000) * 1_000 - offsetMs;
};
