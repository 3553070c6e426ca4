import { readFileSync } from "node:fs";
import type { OwnLimit } from "../../conformance/contract/load-failures.ts";
import type { FetchedProfile } from "../../conformance/contract/profile-fetched.ts";
import type { LoadPlan } from "./context.ts";
import { limitRemedies } from "./judge/validity.ts";
import { virtualUsersFor } from "./settings.ts";

/** What this machine allows a process that it starts; unknown where there is no /proc. */
export type Allowed = Partial<Record<OwnLimit, number>>;

/** k6 raises the soft limit of open files to the hard one itself, as every Go program does. */
export const allowedHere = (read: (file: string) => string | undefined = contentOf): Allowed => {
  const [, files] = /^Max open files\s+\S+\s+(\d+)/m.exec(read("/proc/self/limits") ?? "") ?? [];
  const range = /^(\d+)\s+(\d+)/.exec(read("/proc/sys/net/ipv4/ip_local_port_range") ?? "");
  return {
    ...(files !== undefined && { "open files": Number(files) }),
    ...(range !== null && { "local ports": Number(range[2]) - Number(range[1]) + 1 }),
  };
};

const contentOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
};

/** The most requests that an iteration sends at once, each on a connection that its virtual user then keeps. */
const MOST_AT_ONCE = 3;
/** What k6 holds open besides connections. */
const OTHER_FILES = 30;

/**
 * What a load needs if answers come within a tenth of a second, for its virtual users take turns. If they come later, or
 * the service closes connections, it needs more.
 */
export const neededFor = (
  plan: Pick<LoadPlan, "scenario" | "rate" | "virtualUsers" | "segment">,
  profile: Pick<FetchedProfile, "tolerances">,
): Readonly<Record<"open files" | "local ports", number>> => {
  const users = virtualUsersFor(plan, profile).allocated / (plan.segment?.count ?? 1);
  const connections = MOST_AT_ONCE * Math.ceil(users);
  return { "open files": connections + OTHER_FILES, "local ports": connections };
};

export interface Shortage {
  readonly text: string;
  readonly remedy: string;
}

/** The limits that may be too low for a load. */
export const shortagesFor = (
  needed: Readonly<Record<"open files" | "local ports", number>>,
  allowed: Allowed,
): readonly Shortage[] =>
  (["open files", "local ports"] as const).flatMap((limit) => {
    const [least, most = Infinity] = [needed[limit], allowed[limit]];
    return most >= least
      ? []
      : [{ text: `${least} ${limit} are needed, and ${most} allowed`, remedy: limitRemedies[limit] }];
  });
