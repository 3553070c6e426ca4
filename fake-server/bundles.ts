import type { Behaviour } from "./behaviour.ts";
import type { FakeBehaviour, Variant } from "./registry.ts";
import { sound } from "./sound.ts";

export const joint = "+";

/** One service with several behaviours at once; if two replace the same decision, the later one wins. */
export const bundle = (name: string, entries: readonly Variant[]): FakeBehaviour => {
  const clockMode = entries.find((entry) => entry.clockMode !== undefined)?.clockMode;
  return {
    name,
    summary: entries.map(({ summary }) => summary).join(" "),
    ...(clockMode === undefined ? {} : { clockMode }),
    make: () => entries.reduce<Behaviour>((made, { replaces }) => ({ ...made, ...replaces(made) }), sound),
  };
};

/**
 * Decisions that depend on another one: a rate limit is recognised by its refusal, filters are compared with raw ids,
 * and a push sent late and noticed late is late twice. Combined, two conforming variants would not conform.
 */
const restsOn: Partial<Record<keyof Behaviour, keyof Behaviour>> = {
  admission: "renderRefusal",
  readFilters: "mintNotificationId",
  pushNoticedMs: "pushJitterMs",
};

const decisionsOf = ({ replaces }: Variant): readonly string[] =>
  Object.keys(replaces(sound)).flatMap((decision) => [
    decision,
    restsOn[decision as keyof Behaviour] ?? decision,
  ]);

/**
 * Bundles of at most `size` variants, without two that replace the same decision or one it depends on: real services
 * differ in several ways at once, and each bundle is judged by every rule only once.
 */
export const bundlesOf = (
  variants: Readonly<Record<string, Variant>>,
  size: number,
): readonly (readonly string[])[] => {
  const bundles: { readonly names: string[]; readonly taken: Set<string> }[] = [];
  for (const [name, entry] of Object.entries(variants)) {
    const decisions = decisionsOf(entry);
    const fitting = bundles.find(
      ({ names, taken }) => names.length < size && !decisions.some((decision) => taken.has(decision)),
    );
    const place = fitting ?? { names: [], taken: new Set<string>() };
    if (fitting === undefined) bundles.push(place);
    place.names.push(name);
    for (const decision of decisions) place.taken.add(decision);
  }
  return bundles.map(({ names }) => names);
};
