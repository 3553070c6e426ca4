import type { Behaviour, Replaces } from "./behaviour.ts";
import type { AccessRecord, CodeRecord, Grant, RefreshRecord } from "./credentials.ts";

type Decision = keyof Behaviour;
type Subject<D extends Decision> = Parameters<Behaviour[D]>;
type Result<D extends Decision> = ReturnType<Behaviour[D]>;
/** The decisions whose answer is yes or no at once. */
type Condition = { [D in Decision]: Result<D> extends boolean ? D : never }[Decision];
type Predicate<D extends Decision> = (...subject: Subject<D>) => boolean;

declare const checked: unique symbol;
/** Replaced decisions, made by the functions of this file alone: they refuse a decision that there is not. */
export type Replacement = Replaces & { readonly [checked]: true };

/** Only decisions that there are: a misspelt one is an error where it is written, not a defect that does nothing. */
type Exactly<R> = R & { readonly [K in keyof R]: K extends Decision ? Behaviour[K] : never };

/**
 * Several decisions, or one that keeps state. The function is called once per service; what it remembers are further
 * parameters with a default.
 */
export const decisions = <R extends Partial<Behaviour>>(
  replaces: (sound: Behaviour) => Exactly<R>,
): Replacement => replaces as Replaces as Replacement;

const one = <D extends Decision>(
  decision: D,
  made: (sound: Behaviour, ...subject: Subject<D>) => Result<D>,
): Replacement =>
  ((sound) => ({
    [decision]: (...subject: Subject<D>) => made(sound, ...subject),
  })) satisfies Replaces as Replaces as Replacement;

/** The sound service's answer to one decision. */
const soundly = <D extends Decision>(sound: Behaviour, decision: D, subject: Subject<D>): Result<D> =>
  (sound[decision] as (...all: Subject<D>) => Result<D>)(...subject);

/** One decision taken in another way. */
export const decide = <D extends Decision>(decision: D, made: Behaviour[D]): Replacement =>
  (() => ({ [decision]: made })) as Replaces as Replacement;

/** The sound result of one decision, changed. */
export const change = <D extends Decision>(
  decision: D,
  changed: (result: Result<D>, ...subject: Subject<D>) => Result<D>,
): Replacement =>
  one(decision, (sound, ...subject) => changed(soundly(sound, decision, subject), ...subject));

/** What the sound service does at one point, and something more after it. */
export const afterwards = <D extends Decision>(
  decision: D,
  more: (...subject: Subject<D>) => void,
): Replacement =>
  one(decision, (sound, ...subject) => {
    const result = soundly(sound, decision, subject);
    more(...subject);
    return result;
  });

/** A further condition beside the sound one. */
export const onlyIf = <D extends Condition>(decision: D, holds: Predicate<D>): Replacement =>
  one(decision, (sound, ...subject) => (soundly(sound, decision, subject) && holds(...subject)) as Result<D>);

/** Another way to meet the sound condition. */
export const alsoIf = <D extends Condition>(decision: D, holds: Predicate<D>): Replacement =>
  one(decision, (sound, ...subject) => (soundly(sound, decision, subject) || holds(...subject)) as Result<D>);

interface Lives {
  readonly codeIsAlive: CodeRecord;
  readonly accessTokenIsAlive: AccessRecord;
  readonly refreshTokenIsAlive: RefreshRecord;
}

/** Credentials that live for another time than promised, counted from their issue. */
export const livesFor = <D extends keyof Lives>(
  decision: D,
  lifetimeMs: number | ((record: Lives[D]) => number),
): Replacement => {
  const lifetimeOf = typeof lifetimeMs === "number" ? () => lifetimeMs : lifetimeMs;
  const isAlive = (record: Lives[D], { nowMs }: { readonly nowMs: number }): boolean =>
    !isRevoked(record) && nowMs - record.issuedAtMs < lifetimeOf(record);
  return decide(decision, isAlive as unknown as Behaviour[D]);
};

/** A code is used up and not revoked: its grant may end without it. */
const isRevoked = (record: CodeRecord | { readonly revoked: boolean; readonly grant: Grant }): boolean =>
  "revoked" in record && (record.revoked || record.grant.revoked);
