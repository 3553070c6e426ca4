import { duration } from "../contract/duration.ts";
import { command, pickFrom, sleep, type Command } from "./command.ts";
import { datedBackFrom, guardFor, guardOn } from "../judging/lifetimes/probe.ts";
import type { Model } from "./states.ts";

type Kind = "code" | "refresh token" | "access token";

/** Time for a request to arrive before the end of a lifetime, in milliseconds. */
const TRAVEL_MS = 400;

/** How far from that distance to an end such a wait may end, as a share of the lifetime; and right before one, where it is short. */
const PART_OF_LIFE = 1 / 2;
const SMALL_PART_OF_LIFE = 1 / 32;
const MOST_RIGHT_BEFORE_MS = 300_000;

/**
 * How much farther from an end such a wait may end, so that histories wake together: never on its other side. Lifetimes
 * themselves are judged more exactly by rules of their own.
 */
const slackOf = (side: "before" | "after", distanceMs: number, lifetimeMs: number): number =>
  side === "before" && distanceMs === 0
    ? Math.min(lifetimeMs * SMALL_PART_OF_LIFE, MOST_RIGHT_BEFORE_MS)
    : Math.max(distanceMs, lifetimeMs * PART_OF_LIFE);

/** A wait in which time only has to pass may last so many times longer: lifetimes are orders of magnitude apart. */
const LATER = 32;

/** Some time passes, whatever expires meanwhile. */
export const wait = (waitMs: number): Command =>
  command(
    `wait ${duration(waitMs)}`,
    (model) => waitMs <= model.leftToWaitMs,
    (model, real) => sleep(model, real, waitMs, LATER * waitMs),
  );

/** Time passes until right before or after the end of a credential, which the next command finds in front. */
export const waitForEnd = (kind: Kind, pick: number, side: "before" | "after", distanceMs: number): Command =>
  command(
    `wait until ${distanceMs === 0 ? "just" : `at least ${duration(distanceMs)}`} ${side} ${kind} ${pick} expires`,
    (model) => expiringOf(model, kind).length > 0,
    async (model, real) => {
      const expiring = pickFrom(model, expiringOf(model, kind), pick);
      const { issued, lifetimeMs, cutMs } = expiring;
      const datedBackMs = datedBackFrom(issued, model.clock);
      const ends = { guardMs: guardFor(lifetimeMs, model.guardMs), cutMs, datedBackMs };
      const slackMs = slackOf(side, distanceMs, lifetimeMs);
      const waitMs =
        side === "before"
          ? lifetimeMs -
            guardOn("alive", ends) -
            TRAVEL_MS -
            distanceMs -
            slackMs -
            (model.now.latestMs - issued.earliestMs)
          : lifetimeMs + guardOn("dead", ends) + distanceMs - (model.now.earliestMs - issued.latestMs);
      // Skips a lifetime that is not a number, is over, or exceeds what the history may wait.
      if (!(waitMs <= model.leftToWaitMs)) return;
      model.focus = expiring;
      if (waitMs > 0) await sleep(model, real, waitMs, slackMs, side === "before");
    },
  );

const expiringOf = (
  model: Model,
  kind: Kind,
): readonly (Model["codes"] | Model["grants"] | Model["accesses"])[number][] =>
  kind === "code" ? model.codes : kind === "refresh token" ? model.grants : model.accesses;
