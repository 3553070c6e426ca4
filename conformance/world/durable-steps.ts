import type { Secrets } from "../contract/secrets.ts";
import type { TimeInterval } from "../judging/interval.ts";
import type { Client } from "./target.ts";

/** The result of one step, as JSON, and when it happened on the run's clock. */
export interface KeptStep {
  readonly name: string;
  readonly value: unknown;
  readonly at: TimeInterval;
}

/** What the cases of a run in real time did before they began to wait, so that another process can continue them. */
export interface Checkpoint {
  /** What a case of the continued run had done, on this process's clock. Given once. */
  take(id: string): readonly KeptStep[] | undefined;
  keep(id: string, steps: readonly KeptStep[]): void;
  /** Marks the case as no longer continuable, because its credential is about to be used up. */
  drop(id: string): void;
}

/** Something that was done, and the interval in which it happened. */
interface Done<T> {
  readonly value: T;
  readonly at: TimeInterval;
}

/**
 * The steps of one waiting case. If a run in real time is killed, the run that continues it does not repeat what was
 * done, and waits only for the rest.
 */
export interface DurableSteps {
  /** Whether an earlier run began the case and it was not restarted since. */
  isContinued(): boolean;
  /**
   * Does something that must not be done twice to the same credential, or returns its earlier result. The result must
   * survive JSON.
   */
  once<T>(name: string, action: () => Promise<Done<T>>): Promise<Done<T>>;
  /** Whether this was noted; for steps that may be repeated. */
  has(name: string): boolean;
  note(name: string): void;
  /** Declares that the next step is decisive or uses something up, so the case can no longer be continued. */
  spend(): void;
  /** Forgets what an earlier run did, because it is no longer useful; false if no earlier run began the case. */
  restart(): boolean;
}

/** The two clients that may own credentials, and the secrets that reports must mask. */
export interface Owners {
  readonly client: Client;
  readonly secondClient: Client | undefined;
  readonly secrets: Secrets;
}

/** Steps that are not kept, because time can be moved or the run leaves no record. */
const unkept: DurableSteps = {
  isContinued: () => false,
  once: (_, action) => action(),
  has: () => false,
  note: () => {},
  spend: () => {},
  restart: () => false,
};

const NOT_TIMED: TimeInterval = { earliestMs: 0, latestMs: 0 };

/** The steps of one case. `id` is unique within its rule, and the same in every run with the same seed. */
export const durableSteps = (
  world: Owners & { readonly checkpoint?: Checkpoint | undefined },
  id: string,
): DurableSteps => {
  const { checkpoint } = world;
  if (checkpoint === undefined) return unkept;
  const earlier = revivedSteps(checkpoint.take(id) ?? [], world);
  const steps: KeptStep[] = [...earlier];
  let isContinued = earlier.length > 0;
  const add = (step: KeptStep): void => {
    steps.push(step);
    const kept = asJson(steps);
    if (kept !== undefined) checkpoint.keep(id, JSON.parse(kept) as readonly KeptStep[]);
  };
  return {
    isContinued: () => isContinued,
    once: async <T>(name: string, action: () => Promise<Done<T>>): Promise<Done<T>> => {
      const known = steps.find((step) => step.name === name);
      if (known !== undefined) return { value: known.value as T, at: known.at };
      // If the run is killed during the step, its outcome is unknown.
      checkpoint.drop(id);
      const done = await action();
      add({ name, value: done.value, at: done.at });
      return done;
    },
    has: (name) => steps.some((step) => step.name === name),
    note: (name) => add({ name, value: true, at: NOT_TIMED }),
    spend: () => checkpoint.drop(id),
    restart: () => {
      if (!isContinued) return false;
      steps.length = 0;
      isContinued = false;
      checkpoint.drop(id);
      return true;
    },
  };
};

/**
 * A value as JSON, with clients reduced to their id: their secrets are in the profile, which the next run reads too.
 * Undefined if it contains a number that JSON cannot represent.
 */
export const asJson = (value: unknown): string | undefined => {
  let isFaithful = true;
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (typeof inner === "number" && !Number.isFinite(inner)) isFaithful = false;
    return key === "client" && isClient(inner) ? { id: inner.id } : inner;
  });
  return isFaithful ? text : undefined;
};

const isClient = (value: unknown): value is Client =>
  typeof value === "object" && value !== null && "id" in value && "secret" in value;

/**
 * Restores what an earlier run wrote with `asJson`, with the client as currently in the profile, and masks its
 * credentials. Undefined if the profile no longer has that client.
 */
export const revived = (value: unknown, { client, secondClient, secrets }: Owners): unknown => {
  conceal(value, secrets);
  if (typeof value !== "object" || value === null || !("client" in value)) return value;
  const { id } = value.client as { readonly id?: unknown };
  const known = [client, secondClient].find((one) => one?.id === id);
  return known === undefined ? undefined : { ...value, client: known };
};

const revivedSteps = (kept: readonly KeptStep[], owners: Owners): readonly KeptStep[] => {
  const steps = kept.map((step) => ({ ...step, value: revived(step.value, owners) }));
  return steps.some(({ value }) => value === undefined) ? [] : steps;
};

const kinds = { code: "code", accessToken: "access token", refreshToken: "refresh token" } as const;

const conceal = (value: unknown, secrets: Secrets): void => {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value))
    if (typeof inner === "string" && key in kinds) secrets.conceal(inner, kinds[key as keyof typeof kinds]);
    else conceal(inner, secrets);
};
