import { nearest } from "../conformance/contract/nearest.ts";
import { defects } from "./defects/index.ts";
import { loadDefects } from "./defects/load.ts";
import { company, joint } from "./companies.ts";
import { behaviourFrom, type FakeBehaviour, soundBehaviour, type Variant } from "./registry.ts";
import { variants } from "./variants/index.ts";
import { loadVariants } from "./variants/load.ts";

const entries: Readonly<Record<string, Variant>> = {
  ...defects,
  ...variants,
  ...loadDefects,
  ...loadVariants,
};

/** Every behaviour that the service can be started with, by name: `sound`, the defects, the variants, and those of both that only load shows. */
export const behaviours: Readonly<Record<string, FakeBehaviour>> = Object.fromEntries([
  [soundBehaviour.name, soundBehaviour],
  ...Object.entries(entries).map(([name, entry]) => [name, behaviourFrom(name, entry)]),
]);

const LISTED = 5;

/** A name that no behaviour has; the message lists those that come near. */
export class UnknownBehaviour extends Error {
  override readonly name = "UnknownBehaviour";
  readonly near: readonly string[];
  constructor(asked: string) {
    const near = nearest(asked, Object.keys(behaviours), LISTED);
    super(`There is no behaviour "${asked}". Near it: ${near.join(", ")}.`);
    this.near = near;
  }
}

/** Finds a behaviour by its name, or several to be shown together by their names joined with "+". Throws UnknownBehaviour. */
export const findBehaviour = (name: string): FakeBehaviour => {
  if (name.includes(joint)) return company(name, name.split(joint).map(entryOf));
  const found = Object.hasOwn(behaviours, name) ? behaviours[name] : undefined;
  if (found === undefined) throw new UnknownBehaviour(name);
  return found;
};

const entryOf = (name: string): Variant => {
  const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
  if (entry === undefined) throw new UnknownBehaviour(name);
  return entry;
};
