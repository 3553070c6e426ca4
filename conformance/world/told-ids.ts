import { fold } from "../judging/laws/pages.ts";

/** What a hook returned for events in one account. */
export interface Told {
  /** How many notifications the account holds once all of them are listed. */
  readonly events: number;
  /** Ids as the hook returned them, in order of the events. */
  readonly told: readonly (string | undefined)[];
  /** Ids that the account held before. */
  readonly existing?: readonly string[];
  /** Whether the ids may be of something other than notifications: the profile does not name their place. */
  readonly mayBeOthers: boolean;
}

export const OTHERS_NOTE =
  "hooks.events.trigger returns ids of something other than notifications, so notifications are found through the list; name the place of the id with `result`, if the answer has it";

/** Whether a list shows every notification of the account, if under other ids than the hook returned. */
export const isListed = (batch: Told, ids: readonly string[]): boolean => {
  const seen = new Set(ids.map(fold));
  const areSeen = (some: Told["told"]): boolean => some.every((id) => id === undefined || seen.has(fold(id)));
  return (
    seen.size >= batch.events &&
    areSeen(batch.existing ?? []) &&
    (areSeen(batch.told) || isOfOthers(batch, ids))
  );
};

/**
 * Whether the ids that a hook returned are of something else, such as of jobs: some account holds exactly what was
 * triggered, and no account any of these ids.
 */
export const areOthers = (batches: readonly Told[], ids: readonly (readonly string[])[]): boolean =>
  batches.some((batch, index) => isOfOthers(batch, ids[index] ?? [])) &&
  !batches.some((batch, index) => showsAny(batch, ids[index] ?? []));

const isOfOthers = (batch: Told, ids: readonly string[]): boolean =>
  batch.mayBeOthers &&
  new Set(ids.map(fold)).size === batch.events &&
  batch.told.some((id) => id !== undefined) &&
  !showsAny(batch, ids);

const showsAny = ({ told }: Told, ids: readonly string[]): boolean => {
  const seen = new Set(ids.map(fold));
  return told.some((id) => id !== undefined && seen.has(fold(id)));
};
