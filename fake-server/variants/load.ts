import { SECOND_MS } from "../../conformance/contract/duration.ts";
import { jsonAnswer, withHeaders } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { counted, pool } from "../changes.ts";
import { everything, type Notification } from "../notifications.ts";
import { keeping, variantRows } from "../registry.ts";

const LOOK_MS = 30 * SECOND_MS;
const MOST_UNDER_WAY = 16;
const REQUESTS_OF_A_CONNECTION = 100;

/** Real milliseconds until one of `workers` is free, plus that worker's time. */
const workers = (count: number, workMs: number): Behaviour["latencyMs"] => {
  const freeAtMs = Array.from({ length: count }, () => 0);
  return ({ clock }) => {
    const nowMs = clock.realMs();
    const next = freeAtMs.indexOf(Math.min(...freeAtMs));
    const doneMs = Math.max(nowMs, freeAtMs[next] ?? 0) + workMs;
    freeAtMs[next] = doneMs;
    return doneMs - nowMs;
  };
};

/** Conforming services whose different design only shows under load. */
export const loadVariants = {
  ...variantRows({
    "load-answers-take-twenty-milliseconds: Every answer takes twenty milliseconds.": { latencyMs: () => 20 },
    "load-answers-take-a-fifth-longer: Every answer takes 24 ms, 20 % more than in the 20 ms variant.": {
      latencyMs: () => 24,
    },
    "load-visible-half-a-second-later: A new notification is listed half a second later, during its push.": {
      visibilityDelayMs: () => 500,
    },
    "load-answers-with-jitter: An answer takes two to forty milliseconds, usually only a few.": {
      latencyMs: ({ random }) => 2 + 38 * (random.uint32() / 2 ** 32) ** 4,
    },
    "load-eight-workers: Eight workers take four milliseconds each for a request.": keeping(
      (latency = workers(8, 4)) => ({ latencyMs: latency }),
    ),
    "load-overload-refused: Every answer takes 10 ms; a request beyond sixteen in flight gets a 503.": (
      _sound,
      underWay = 0,
    ) => ({
      latencyMs: () => {
        underWay += 1;
        return 10;
      },
      admission: () => {
        underWay -= 1;
        return underWay >= MOST_UNDER_WAY ? { kind: "overloaded" } : undefined;
      },
    }),
    "load-connections-of-a-hundred-requests: A connection is closed after its hundredth request.": keeping(
      (served = counted()) => ({
        finish: (answer, { from }) =>
          served(from.socket) < REQUESTS_OF_A_CONNECTION
            ? answer
            : withHeaders(answer, { connection: "close" }),
      }),
    ),
    "load-refusals-with-status-200: Refused requests are answered with status 200 and an error.": {
      renderRefusal: ({ kind }) => jsonAnswer(200, { error: kind }),
    },
    "load-redemptions-one-at-a-time: Redemptions are handled one after another, in a millisecond each.": (
      sound,
      lock = pool(1),
    ) => ({
      takeCode: async (record, context) => {
        await lock.take();
        const taken = sound.takeCode(record, context);
        await context.clock.pause(1);
        lock.giveBack();
        return taken;
      },
    }),
    "load-equal-reads-shared: Equal concurrent reads share one answer of the database.": (
      sound,
      underWay = new Map<string, Promise<readonly Notification[]>>(),
    ) => ({
      readItems: (selection, offset, paging, context) => {
        const key = JSON.stringify([selection, offset, paging, context.notifications.count(everything)]);
        const shared = underWay.get(key);
        if (shared !== undefined) return shared;
        const items = sound.readItems(selection, offset, paging, context);
        const read = context.clock
          .pause(5)
          .then(() => items)
          .finally(() => underWay.delete(key));
        underWay.set(key, read);
        return read;
      },
    }),
    "load-tokens-written-in-groups: Exchanges wait for a group write every eight milliseconds.": (sound) => ({
      takeCode: async (record, context) => {
        const taken = sound.takeCode(record, context);
        await context.clock.pause(8 - (context.clock.realMs() % 8));
        return taken;
      },
    }),
    "load-eight-pushes-in-flight: At most eight pushes are in flight; the first push leaves within a second.":
      {
        pushesInFlight: () => 8,
        pushJitterMs: (attempt, { random }) => (attempt === 1 ? random.uint32() % 1_000 : 0),
      },
  }),
  ...variantRows(
    {
      "load-retries-noticed-every-half-minute: A worker looks for due retries every 30 s, on a clock that stands still unless it is advanced.":
        { pushNoticedMs: (dueMs, attempt) => (attempt === 1 ? dueMs : Math.ceil(dueMs / LOOK_MS) * LOOK_MS) },
    },
    { clockMode: "frozen" },
  ),
};
