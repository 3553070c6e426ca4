import type { Secrets } from "../contract/secrets.ts";
import type { Bracket } from "../world/exchange.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";
import type { Awaited, KeptStep } from "./store.ts";

/** Something that was done, and between which two moments. */
interface Done<T> {
  readonly value: T;
  readonly at: Bracket;
}

/**
 * The way of one case through its waits, step by step. Where time is real and the run is killed on the way, the run that
 * continues it does not do again what was done, and waits only for what remains.
 */
export interface Steps {
  /** Whether the case was begun by an earlier run, and has not been begun anew since. */
  isContinued(): boolean;
  /**
   * Does something that must not be done twice to the same credential, or returns what it once came to. What it comes
   * to has to survive being written as JSON.
   */
  once<T>(name: string, action: () => Promise<Done<T>>): Promise<Done<T>>;
  /** Whether this was noted; for what may be done twice. */
  has(name: string): boolean;
  note(name: string): void;
  /** Says that what comes next is decisive, or uses something up: from here on the case cannot be gone on with. */
  spend(): void;
  /** Forgets all that was done: what it came to is of no use any more. */
  restart(): void;
}

/** Steps where nothing is kept: time can be moved, or the run leaves no record. */
const unkept: Steps = {
  isContinued: () => false,
  once: (_, action) => action(),
  has: () => false,
  note: () => {},
  spend: () => {},
  restart: () => {},
};

const NOT_TIMED: Bracket = { earliestMs: 0, latestMs: 0 };

/** The steps of the case of this name, which no other case of its rule has, and which is the same in every run of one seed. */
export const stepsOf = (
  world: Pick<World, "awaited" | "client" | "secondClient" | "secrets">,
  id: string,
): Steps => {
  const { awaited } = world;
  if (awaited === undefined) return unkept;
  const earlier = revived(awaited.take(id) ?? [], world);
  const steps: KeptStep[] = [...earlier];
  let isContinued = earlier.length > 0;
  const add = (step: KeptStep): void => {
    steps.push(step);
    keep(awaited, id, steps);
  };
  return {
    isContinued: () => isContinued,
    once: async <T>(name: string, action: () => Promise<Done<T>>): Promise<Done<T>> => {
      const known = steps.find((step) => step.name === name);
      if (known !== undefined) return { value: known.value as T, at: known.at };
      // Killed in the middle of it, nobody could tell what it came to.
      awaited.drop(id);
      const done = await action();
      add({ name, value: done.value, at: done.at });
      return done;
    },
    has: (name) => steps.some((step) => step.name === name),
    note: (name) => add({ name, value: true, at: NOT_TIMED }),
    spend: () => awaited.drop(id),
    restart: () => {
      steps.length = 0;
      isContinued = false;
      awaited.drop(id);
    },
  };
};

/** Keeps what JSON can hold; a number without end would come back as something else. */
const keep = (awaited: Awaited, id: string, steps: readonly KeptStep[]): void => {
  let isFit = true;
  const text = JSON.stringify(steps, (key, value: unknown) => {
    if (typeof value === "number" && !Number.isFinite(value)) isFit = false;
    // Secrets of clients belong to the profile, which the next run reads as well.
    return key === "client" && isClient(value) ? { id: value.id } : value;
  });
  if (isFit) awaited.keep(id, JSON.parse(text) as readonly KeptStep[]);
};

const isClient = (value: unknown): value is Client =>
  typeof value === "object" && value !== null && "id" in value && "secret" in value;

/** What an earlier run kept, with its clients as the profile has them now; nothing where it has them no longer. */
const revived = (
  kept: readonly KeptStep[],
  world: Pick<World, "client" | "secondClient" | "secrets">,
): readonly KeptStep[] => {
  const steps = kept.map((step) => ({ ...step, value: withClient(step.value, world) }));
  if (steps.some(({ value }) => value === undefined)) return [];
  for (const { value } of steps) conceal(value, world.secrets);
  return steps;
};

const withClient = (
  value: unknown,
  { client, secondClient }: Pick<World, "client" | "secondClient">,
): unknown => {
  if (typeof value !== "object" || value === null || !("client" in value)) return value;
  const { id } = value.client as { readonly id?: unknown };
  const known = [client, secondClient].find((one) => one?.id === id);
  return known === undefined ? undefined : { ...value, client: known };
};

const names = { code: "code", accessToken: "access token", refreshToken: "refresh token" } as const;

const conceal = (value: unknown, secrets: Secrets): void => {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value))
    if (typeof inner === "string" && key in names) secrets.conceal(inner, names[key as keyof typeof names]);
    else conceal(inner, secrets);
};
