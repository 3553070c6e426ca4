import type { Allowed } from "../../conformance/files/own-limits.ts";
import type { OwnLimit } from "../../conformance/contract/load-failures.ts";
import type { FetchedProfile } from "../../conformance/contract/profile-fetched.ts";
import type { LoadPlan } from "./context.ts";
import { limitRemedies } from "./judge/validity.ts";
import { virtualUsersFor } from "./settings.ts";

/** The most requests that an iteration sends at once, each on a connection that its virtual user then keeps. */
const MOST_AT_ONCE = 3;
/** What k6 holds open besides connections. */
const OTHER_FILES = 30;

type Needed = Readonly<Record<Extract<OwnLimit, "open files" | "local ports">, number>>;

/**
 * What a load needs if answers come within a tenth of a second, for its virtual users take turns. If they come later, or
 * the service closes connections, it needs more.
 */
export const neededFor = (
  plan: Pick<LoadPlan, "scenario" | "rate" | "virtualUsers" | "segment">,
  profile: Pick<FetchedProfile, "tolerances">,
): Needed => {
  const users = virtualUsersFor(plan, profile).allocated / (plan.segment?.count ?? 1);
  const connections = MOST_AT_ONCE * Math.ceil(users);
  return { "open files": connections + OTHER_FILES, "local ports": connections };
};

export interface Shortage {
  readonly limit: keyof Needed;
  readonly text: string;
  readonly remedy: string;
}

/** The limits that may be too low for a load. */
export const shortagesFor = (needed: Needed, allowed: Allowed): readonly Shortage[] =>
  (["open files", "local ports"] as const).flatMap((limit) => {
    const [least, most = Infinity] = [needed[limit], allowed[limit]];
    return most >= least
      ? []
      : [{ limit, text: `${least} ${limit} are needed, and ${most} allowed`, remedy: limitRemedies[limit] }];
  });
