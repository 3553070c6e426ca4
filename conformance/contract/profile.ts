import Type, { Optional, type Static } from "typebox";
import {
  byName,
  closed,
  described,
  group,
  integer,
  list,
  number,
  optional,
  options,
  text,
} from "./schema.ts";
import {
  Headers,
  hook,
  type Hook,
  Milliseconds,
  SecretSource,
  Load,
  Objectives,
  Share,
  Concurrency,
  Network,
  Receiver,
} from "./profile-parts.ts";

const ProfileClient = group("An OAuth client.", {
  id: text("clientId, as the service issued it.", { minLength: 1 }),
  secret: SecretSource,
  redirectUri: text("The client's redirectUri as registered, an absolute URL.", { minLength: 1 }),
});

/**
 * Everything particular to one target. Times are in milliseconds and say so in their names. `hookPlaceholders` lists
 * the placeholders of each hook.
 */
export const Profile = Type.Object(
  {
    ...optional({
      $schema: text("JSON Schema of profiles, for editors."),
      name: text("Name of the target in reports.", { minLength: 1 }),
    }),
    baseUrl: text("The part of the service's addresses before /open-api/, an absolute http or https URL.", {
      minLength: 1,
    }),
    clients: list("OAuth clients. Rules that compare two clients need the second one.", ProfileClient, {
      minItems: 1,
      maxItems: 2,
    }),
    ...optional({
      headers: described(Headers, "Additional headers of every request."),
      authorize: options(
        "What only authorize needs to get past consent: headers, query, or code, a hook that goes through it.",
        {
          headers: described(Headers, "Headers of authorize requests."),
          query: described(Headers, "Parameters added to authorize requests."),
          code: hook("Goes through consent and returns the code."),
        },
      ),
      accounts: list(
        "Accounts that events may be triggered for; default: fresh UUIDs.",
        Type.String({ minLength: 1 }),
        { minItems: 2 },
      ),
      hooks: options("Calls for what the service's own interface does not offer.", {
        clock: options("Moves the service's clock, so that rules of 30 days take seconds.", {
          now: hook("Returns the service's time."),
          advance: hook("Advances the service's clock by at least the given time."),
          faketime: group(
            "Moves the clock of a service under libfaketime by writing the file that its FAKETIME_TIMESTAMP_FILE names; instead of advance.",
            { file: text("The file that libfaketime reads.", { minLength: 1 }) },
          ),
          pushes: Type.Literal("real", {
            description:
              "Pushes are judged in real time, because the clock of the sender's queue cannot be moved.",
          }),
        }),
        events: group("Creates notifications.", {
          trigger: hook("Creates a notification for an account and returns its id."),
        }),
        callback: group("Sets the callback address of the service.", {
          register: hook("Tells the service where to push and which authority to trust."),
          restore: Optional(hook("Restores the former callback address at the end of a run.")),
        }),
        cleanup: hook("Gets the list of everything the run created, when the run ends."),
      }),
      limits: options(
        "Replaces the document's numbers, for a staging service; every report mentions it first.",
        {
          codeLifetimeMs: number("How long a code can be exchanged.", { exclusiveMinimum: 0 }),
          refreshTokenLifetimeMs: number("How long a refreshToken works.", { exclusiveMinimum: 0 }),
          stateMaxBytes: integer("The longest state.", { minimum: 1 }),
          defaultLimit: integer("Items on a page requested without limit.", { minimum: 1 }),
          defaultPage: integer("The page returned without page.", { minimum: 0 }),
          pushDelaysMs: list(
            "Delays of the retries of a failed push, in order.",
            Type.Number({ exclusiveMinimum: 0 }),
            { minItems: 1, maxItems: 20 },
          ),
          maxPushes: integer("Maximum number of pushes of one notification.", { minimum: 1, maximum: 20 }),
        },
      ),
      tolerances: options("How far evidence may deviate before it counts.", {
        lifetimeGuardMs: described(
          Milliseconds,
          "Distance from the end of a lifetime within which a probe decides nothing; default 500 on a virtual clock, 1500 on a real one. After the end of an expiresIn that is not a multiple of ten seconds it is at least 1000 if the clock runs, because a fraction may have been cut from it.",
        ),
        lifetimeResolutionMs: number(
          "Coarsest resolution of a lifetime's end at which the rule passes; default 1 % of the lifetime, at most 60000, but no finer than twice the guard; without hooks.clock.now, which leaves the target's time uncertain, a twentieth of the lifetime, at most an hour.",
          { exclusiveMinimum: 0 },
        ),
        visibilityMs: described(
          Milliseconds,
          "How long a new notification may take to be listed; default 30000. On a virtual clock, that much virtual time, and then as much real time (default 2000).",
        ),
        requestTimeoutMs: number("How long an answer may take; default 10000.", { exclusiveMinimum: 0 }),
        latenessMs: described(
          Milliseconds,
          "How late a push may be; default a third of the first delay, and at least 15 % of the push's own delay. In real time the default grows by the lateness that the run measures.",
        ),
        pushResolutionShare: number(
          "Coarsest resolution of a retry's moment at which push.schedule passes, as a share of its delay; default 0.5, but no finer than latenessMs. The reports state the resolution that was reached.",
          { exclusiveMinimum: 0, maximum: 1 },
        ),
        outageMs: described(
          Milliseconds,
          "How long target and hooks may refuse connections, for example during a restart, before the run continues without them; default 60000.",
        ),
      }),
      concurrency: Concurrency,
      network: Network,
      receiver: Receiver,
      acknowledgement: group("What the service expects from a receiver.", {
        status: integer("The code; default 200.", { minimum: 200, maximum: 299 }),
      }),
      pins: options(
        "Fingerprints and readings that must not change (exit code 6); requirement ids are the keys.",
        {
          observations: byName(
            "Unspecified behaviour, as conform --json prints it under fingerprint.",
            Type.Unknown(),
          ),
          readings: byName("The reading of an ambiguous rule that the service must follow.", Type.String()),
        },
      ),
      slos: Objectives,
      load: Load,
      safety: options("What a load run may do to this target.", {
        hosts: list(
          "Hosts that may be loaded, exactly as in the address; loopback is always allowed.",
          Type.String({ minLength: 1 }),
        ),
        maxRate: number("Highest rate, in requests a second.", { exclusiveMinimum: 0 }),
        maxDurationMs: number("Longest duration of a load.", { exclusiveMinimum: 0 }),
        abort: options(
          "Aborts a run once this share of requests fails for this many consecutive seconds, not counting those in which none ended.",
          {
            errorShare: described(Share, "Share of failing requests."),
            seconds: integer("Number of consecutive seconds.", { minimum: 1 }),
          },
        ),
      }),
      waivers: list(
        "Known breaches that do not fail the gate for a while.",
        group("One excused breach.", {
          id: text("Requirement id.", { minLength: 1 }),
          reason: text("Why it is excused.", { minLength: 1 }),
          owner: text("Who takes care of it.", { minLength: 1 }),
          expires: text("The last day on which it applies, as YYYY-MM-DD.", {
            pattern: "^\\d{4}-\\d{2}-\\d{2}$",
          }),
        }),
      ),
      notApplicable: byName(
        "Requirement ids that cannot apply to this target, each with its reason. A required one makes the run incomplete.",
        Type.String({ minLength: 1 }),
      ),
    }),
  },
  closed,
);
export type Profile = Static<typeof Profile>;
export type HookAsWritten = Static<typeof Hook>;
export type SecretSource = Static<typeof SecretSource>;
export { secretKey, type SecretValue } from "./profile-parts.ts";

type IsUnion<T, Whole = T> = T extends unknown ? ([Whole] extends [T] ? false : true) : never;
type PartOf<T> =
  true extends IsUnion<T>
    ? T
    : T extends readonly unknown[]
      ? T
      : T extends object
        ? {
            readonly [Key in keyof T]?:
              | PartOf<Exclude<T[Key], undefined>>
              | (undefined extends T[Key] ? null : string extends Key ? null : never);
          }
        : T;
/**
 * One file of several: any part of a profile. Lists and alternatives are replaced whole; null removes what earlier
 * files set (RFC 7396).
 */
export type ProfilePart = PartOf<Profile>;

/** Type-checks the literal of a file that is layered over another one; returns it unchanged. */
export const defineProfilePart = (part: ProfilePart): ProfilePart => part;

/** Type-checks a profile literal; returns it unchanged. */
export const defineProfile = (profile: Profile): Profile => profile;
