import { nearest } from "../conformance/contract/nearest.ts";
import { defects } from "./defects/index.ts";
import { loadDefects } from "./defects/load.ts";
import { bundle, joint } from "./bundles.ts";
import { behaviourFrom, type FakeBehaviour, soundBehaviour, type Variant } from "./registry.ts";
import { variants } from "./variants/index.ts";
import { loadVariants } from "./variants/load.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";

const entries: Readonly<Record<string, Variant>> = {
  ...defects,
  ...variants,
  ...loadDefects,
  ...loadVariants,
};

/**
 * Every behaviour that the service can be started with, by name: `sound`, defects, variants, and those of both that
 * only load shows.
 */
export const behaviours: Readonly<Record<string, FakeBehaviour>> = Object.fromEntries([
  [soundBehaviour.name, soundBehaviour],
  ...Object.entries(entries).map(([name, entry]) => [name, behaviourFrom(name, entry)]),
]);

const LISTED = 5;

const unknown = (asked: string): ConfigurationError =>
  new ConfigurationError(
    `--behaviour: there is no behaviour "${asked}"; accepted is one that \`touchstone serve --list\` prints, or several joined with "${joint}"; similar ones are ${nearest(asked, Object.keys(behaviours), LISTED).join(", ")}`,
  );

const named = <E>(among: Readonly<Record<string, E>>, name: string): E => {
  const found = Object.hasOwn(among, name) ? among[name] : undefined;
  if (found === undefined) throw unknown(name);
  return found;
};

/** Finds a behaviour by name, or several combined by names joined with "+". Throws ConfigurationError. */
export const findBehaviour = (name: string): FakeBehaviour =>
  name.includes(joint)
    ? bundle(
        name,
        name.split(joint).map((one) => named(entries, one)),
      )
    : named(behaviours, name);
