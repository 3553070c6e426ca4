import { mapLimited } from "../checks/map-limited.ts";
import type { Run } from "../checks/rule.ts";
import type { Verdict } from "../contract/verdict.ts";
import {
  ControlFailed,
  TransportError,
  isHangUp,
  mayBeGateways,
  whatAnswersInstead,
  type Answer,
  type Lost,
} from "../world/exchange.ts";
import type { Target } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { judgeLifetime, type JudgedLifetime } from "./lifetime.ts";

/** Enough to meet a store of eight that keeps other times than the rest, nearly always. */
const CROWD = 24;
const AT_A_TIME = 8;
/** Distance before the end on a clock that runs meanwhile, in milliseconds. */
const ASIDE_MS = 30_000;

/** A credential of a crowd, and the exchanges that concern it. */
interface Member<C> {
  readonly credential: C;
  readonly exchanges: readonly number[];
}

/** Issues one credential after another, a few at the same time. Leaves out those for which an answer was lost. */
export const issueCrowd = async <C>(
  world: World,
  issue: (world: World, nth: number) => Promise<C>,
): Promise<readonly Member<C>[]> => {
  const places = Array.from({ length: CROWD }, (_, nth) => nth);
  const issued = await mapLimited(places, AT_A_TIME, (nth) =>
    ifAnswered(world, (noted) => issue(noted, nth)),
  );
  const members = issued.flatMap((one) =>
    one.isAnswered ? [{ credential: one.value, exchanges: one.exchanges }] : [],
  );
  if (members.length === 0) throw noneAnswered("request for a credential", issued);
  return members;
};

export interface Crowd<C> extends Omit<
  JudgedLifetime<C>,
  "issue" | "shownBy" | "sides" | "perSide" | "fromEndMs" | "ways" | "use"
> {
  readonly issue: (world: World, way: number) => Promise<readonly Member<C>[]>;
}

/**
 * Judges many credentials that are issued together: all of them work before their end, and none after it. Shows what
 * ends at another time for some only, such as those in one of several stores. Is left out if the clock cannot be moved.
 */
export const judgeCrowd = <C>(world: World, run: Run, crowd: Crowd<C>): readonly Promise<Verdict>[] => {
  if (world.clock.kind === "real") return [];
  const { name, lifetimeMs, startsAt, lifetimeOf, issuedIn, control, inVain } = crowd;
  const odd = new WeakMap<object, Member<C>>();
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
        const probed = await mapLimited(members, AT_A_TIME, ({ credential }) =>
          ifAnswered(caseWorld, (noted) => crowd.alive(noted, credential)),
        );
        const isAlive = sides === "alive";
        // After the end, a service may refuse by hanging up on each; before it, that would show nothing.
        if (!probed.some((one) => one.isAnswered || (!isAlive && one.lost.every(isHangUp))))
          throw noneAnswered(`probe of the ${name}`, probed);
        for (const [at, one] of probed.entries()) {
          const member = members[at];
          if (member === undefined || !one.isAnswered || one.value === isAlive) continue;
          odd.set(members, { ...member, exchanges: [...member.exchanges, ...one.exchanges] });
          return !isAlive;
        }
        return isAlive;
      },
      shownBy: (members) => odd.get(members)?.exchanges,
      inVain: (members) => inVain?.((odd.get(members) ?? first(members)).credential),
      control: async (caseWorld, members) => control?.(caseWorld, first(members).credential),
      sides,
      clients: "first",
      perSide: 1,
      // So many requests take time, also from the probes that must come right before an end.
      fromEndMs: sides === "alive" && world.clock.runs() ? Math.min(ASIDE_MS, lifetimeMs(world) / 4) : 0,
    }),
  );
};

const first = <C>([member]: readonly Member<C>[]): Member<C> => {
  if (member === undefined) throw new Error("a crowd has members");
  return member;
};

const ofFirst =
  <C, R>(of: (credential: C) => R) =>
  (members: readonly Member<C>[]): R =>
    of(first(members).credential);

/** What was done, and the numbers of its exchanges; or those of them that were lost. */
type Done<T> =
  | { readonly isAnswered: true; readonly value: T; readonly exchanges: readonly number[] }
  | { readonly isAnswered: false; readonly lost: readonly Lost[] };

const noneAnswered = (what: string, done: readonly Done<unknown>[]): ControlFailed => {
  const lost = done.flatMap((one) => (one.isAnswered ? [] : one.lost)).at(-1);
  return new ControlFailed(`no answer came to any ${what}`, lost && whatAnswersInstead(lost));
};

/**
 * Does something in a world, unless one of its exchanges gets no answer. Of so many requests some are lost in most cases
 * where a network loses a few in a hundred, and the others decide without them.
 */
const ifAnswered = async <T>(world: World, act: (world: World) => Promise<T>): Promise<Done<T>> => {
  const exchanges: number[] = [];
  const lost: Lost[] = [];
  const noted = async (answering: Promise<Answer>): Promise<Answer> => {
    try {
      const answer = await answering;
      exchanges.push(answer.exchange);
      return answer;
    } catch (error) {
      if (error instanceof TransportError) lost.push(error);
      throw error;
    }
  };
  const notedUnlessHidden = async (answering: Promise<Answer>): Promise<Answer> => {
    const answer = await noted(answering);
    if (mayBeGateways(answer)) lost.push(answer);
    return answer;
  };
  const { target } = world;
  const notedTarget: Target = {
    ...target,
    authorize: (request) => noted(target.authorize(request)),
    exchange: (body) => notedUnlessHidden(target.exchange(body)),
    refresh: (body) => notedUnlessHidden(target.refresh(body)),
    list: (request) => noted(target.list(request)),
  };
  try {
    const value = await act({ ...world, target: notedTarget });
    if (lost.length === 0) return { isAnswered: true, value, exchanges };
  } catch (error) {
    const isOfLoss = error instanceof TransportError || error instanceof ControlFailed;
    if (lost.length === 0 || !isOfLoss) throw error;
  }
  for (const { exchange } of lost) world.evidence.ignoreLoss(exchange);
  return { isAnswered: false, lost };
};
