import { mapLimited } from "../checks/map-limited.ts";
import type { Run } from "../checks/rule.ts";
import type { Verdict } from "../contract/verdict.ts";
import { TransportError, type Answer } from "../world/exchange.ts";
import type { DurableSteps } from "../world/durable-steps.ts";
import type { Target } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { judgeLifetime, type JudgedLifetime } from "./lifetime.ts";

/** Enough to meet a store of eight that keeps other times than the rest, nearly always. */
const CROWD = 24;
const AT_A_TIME = 8;
/** Distance before the end on a clock that runs meanwhile, in milliseconds. */
const ASIDE_MS = 30_000;

/** A credential of a crowd, and the exchanges that issued it. */
interface Member<C> {
  readonly credential: C;
  readonly issuedBy: readonly number[];
}

/** Issues one credential after another, a few at the same time. */
export const issueCrowd = <C>(
  world: World,
  issue: (world: World, nth: number) => Promise<C>,
): Promise<readonly Member<C>[]> =>
  mapLimited(
    Array.from({ length: CROWD }, (_, nth) => nth),
    AT_A_TIME,
    async (nth) => {
      const { world: noted, made } = noting(world);
      return { credential: await issue(noted, nth), issuedBy: made };
    },
  );

export interface Crowd<C> extends Omit<
  JudgedLifetime<C>,
  "issue" | "shownBy" | "sides" | "perSide" | "fromEndMs" | "ways" | "use"
> {
  readonly issue: (world: World, steps: DurableSteps, way: number) => Promise<readonly Member<C>[]>;
}

/**
 * Judges many credentials that are issued together: all of them work before their end, and none after it. Shows what
 * ends at another time for some only, such as those in one of several stores. Is left out if the clock cannot be moved.
 */
export const judgeCrowd = <C>(world: World, run: Run, crowd: Crowd<C>): readonly Promise<Verdict>[] => {
  if (world.clock.kind === "real") return [];
  const { name, lifetimeMs, startsAt, lifetimeOf, issuedIn } = crowd;
  const shownBy = new WeakMap<object, readonly number[]>();
  return (["alive", "dead"] as const).map((sides) =>
    judgeLifetime<readonly Member<C>[]>(world, run, {
      name: `${name} ${sides === "alive" ? "issued" : "that expires"} with ${CROWD - 1} others`,
      lifetimeMs,
      ...(startsAt === undefined ? {} : { startsAt }),
      ...(issuedIn === undefined ? {} : { issuedIn: ofFirst(issuedIn) }),
      ...(lifetimeOf === undefined ? {} : { lifetimeOf: ofFirst(lifetimeOf) }),
      issue: async (...given) => {
        const members = await crowd.issue(...given);
        if (lifetimeOf === undefined) return members;
        return members.filter(({ credential }) => lifetimeOf(credential) === ofFirst(lifetimeOf)(members));
      },
      alive: async (caseWorld, members) => {
        const probed = await mapLimited(members, AT_A_TIME, async ({ credential, issuedBy }) => {
          const { world: noted, made } = noting(caseWorld);
          return { works: await crowd.alive(noted, credential), exchanges: [...issuedBy, ...made] };
        });
        const odd = probed.find(({ works }) => works !== (sides === "alive"));
        if (odd !== undefined) shownBy.set(members, odd.exchanges);
        return odd === undefined ? sides === "alive" : odd.works;
      },
      shownBy: (members) => shownBy.get(members),
      sides,
      clients: "first",
      perSide: 1,
      // So many requests take time, also from the probes that must come right before an end.
      fromEndMs: sides === "alive" && world.clock.runs() ? Math.min(ASIDE_MS, lifetimeMs(world) / 4) : 0,
    }),
  );
};

const ofFirst =
  <C, R>(of: (credential: C) => R) =>
  ([first]: readonly Member<C>[]): R => {
    if (first === undefined) throw new Error("a crowd has members");
    return of(first.credential);
  };

/** The same world, with the numbers of the exchanges that are made in it. */
const noting = (world: World): { readonly world: World; readonly made: readonly number[] } => {
  const made: number[] = [];
  const noted = async (answering: Promise<Answer>): Promise<Answer> => {
    try {
      const answer = await answering;
      made.push(answer.exchange);
      return answer;
    } catch (error) {
      if (error instanceof TransportError) made.push(error.exchange);
      throw error;
    }
  };
  const { target } = world;
  const notedTarget: Target = {
    ...target,
    authorize: (request) => noted(target.authorize(request)),
    exchange: (body) => noted(target.exchange(body)),
    refresh: (body) => noted(target.refresh(body)),
    list: (request) => noted(target.list(request)),
  };
  return { world: { ...world, target: notedTarget }, made };
};
