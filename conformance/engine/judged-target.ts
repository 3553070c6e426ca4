import { documentLimits } from "../contract/limits.ts";
import { canMoveClock } from "../contract/profile-fetched.ts";
import { ConfigurationError } from "../contract/problem.ts";
import type { RunRecord } from "../contract/record.ts";
import { canonicalJson } from "../contract/verdict.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import { limitsOf } from "../session/session.ts";

/** What a run judges, and by what: the part of its record that verdicts depend on. */
export type JudgedTarget = Pick<
  RunRecord,
  "target" | "clients" | "notApplicable" | "limits" | "replacedLimits" | "settings"
>;

export const judgedTargetOf = (resolved: ResolvedProfile, behaviour: string | undefined): JudgedTarget => {
  const { profile, sources } = resolved;
  return {
    target: {
      name: profile.name ?? new URL(profile.baseUrl).host,
      baseUrl: profile.baseUrl,
      profiles: sources,
      ...(behaviour === undefined ? {} : { behaviour }),
      clock: canMoveClock(profile) ? "virtual" : "real",
    },
    clients: profile.clients.map(({ id, redirectUri }) => ({ id, redirectUri })),
    notApplicable: Object.keys(profile.notApplicable ?? {}).toSorted(),
    limits: { ...limitsOf(resolved) },
    replacedLimits: replacedLimits(resolved),
    settings: settingsOf(resolved),
  };
};

/** Names of the limits that the profile sets to another value than the document's. */
export const replacedLimits = ({ profile }: ResolvedProfile): readonly string[] =>
  Object.entries(profile.limits ?? {}).flatMap(([name, value]) =>
    canonicalJson(value) === canonicalJson(documentLimits[name as keyof typeof documentLimits]) ? [] : [name],
  );

/** What else the profile sets that verdicts depend on, as canonical JSON by key. */
const settingsOf = ({
  profile: { tolerances, acknowledgement, pins },
}: ResolvedProfile): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ tolerances, acknowledgement, "pins.readings": pins?.readings }).flatMap(
      ([group, values = {}]) =>
        Object.entries(values).map(([name, value]) => [`${group}.${name}`, canonicalJson(value)]),
    ),
  );

/**
 * Throws ConfigurationError unless an interrupted run judged this very target as the same clients, by the same numbers:
 * its results are kept as if they were this run's.
 */
export const refuseOtherTarget = (run: string, earlier: JudgedTarget, now: JudgedTarget): void => {
  const [before, after] = [partsOf(earlier), partsOf(now)];
  const other = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (part) => before[part] !== after[part],
  );
  if (other.length > 0)
    throw new ConfigurationError(
      other.map(
        (part) =>
          `--resume ${run}: ${part} was ${before[part] ?? "not set"} in that run, and is ${after[part] ?? "not set"} now; accepted is the same target and profile, or start a new run`,
      ),
    );
};

/** An embedded fake has another address each time. */
const partsOf = ({
  target,
  clients,
  notApplicable,
  limits,
  settings,
}: JudgedTarget): Readonly<Record<string, string>> => ({
  name: target.name,
  baseUrl: target.profiles.length === 0 ? "that of the embedded fake" : target.baseUrl,
  clock: target.clock,
  ...Object.fromEntries(
    clients.flatMap((client, index) =>
      Object.entries(client).map(([key, value]) => [`clients[${index}].${key}`, value]),
    ),
  ),
  ...Object.fromEntries(notApplicable.map((id) => [`notApplicable.${id}`, "set"])),
  ...Object.fromEntries(
    Object.entries(limits).map(([name, value]) => [`limits.${name}`, canonicalJson(value)]),
  ),
  ...settings,
});
