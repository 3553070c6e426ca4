import Type, { Optional, type Static } from "typebox";
import { byName, closed, described, group, integer, list, number, text } from "./schema.ts";
import { Headers, hook, type Hook, Milliseconds, SecretSource } from "./profile-hook.ts";
import { Concurrency, Network, Receiver } from "./profile-network.ts";
import { Load, Objectives, Share } from "./profile-objectives.ts";

const ProfileClient = group("An OAuth client.", {
  id: text("clientId, as the service issued it.", { minLength: 1 }),
  secret: SecretSource,
  redirectUri: text("The client's redirectUri as registered, an absolute URL.", { minLength: 1 }),
});

/**
 * All that is particular to one target. Times are in milliseconds and say so in their
 * names. Which placeholders a hook may hold says `hookPlaceholders`.
 */
export const Profile = Type.Object(
  {
    $schema: Optional(text("JSON Schema of profiles, for editors.")),
    name: Optional(text("How reports call the target.")),
    baseUrl: text("The part of the service's addresses before /open-api/, an absolute http or https URL.", {
      minLength: 1,
    }),
    clients: list("OAuth clients. Rules that compare two clients need the second one.", ProfileClient, {
      minItems: 1,
      maxItems: 2,
    }),
    headers: Optional(described(Headers, "Further headers of every request.")),
    authorize: Optional(
      group(
        "What authorize alone needs to get past consent: headers, query, or code, a hook that goes through it.",
        {
          headers: Optional(described(Headers, "Headers of authorize requests.")),
          query: Optional(described(Headers, "Parameters added to authorize requests.")),
          code: Optional(hook("Goes through consent and answers with the code.")),
        },
      ),
    ),
    accounts: Optional(
      list(
        "Accounts that events may be triggered for; default: fresh UUIDs.",
        Type.String({ minLength: 1 }),
        { minItems: 2 },
      ),
    ),
    hooks: Optional(
      group("What the service's own interface does not offer.", {
        clock: Optional(
          group("Moves the service's clock, so that rules of 30 days take seconds.", {
            now: Optional(hook("Tells the service's time.")),
            advance: Optional(hook("Advances the service's clock by at least so much.")),
            faketime: Optional(
              group(
                "Moves the clock of a service under libfaketime by writing the file that its FAKETIME_TIMESTAMP_FILE names; instead of advance.",
                { file: text("The file that libfaketime reads.", { minLength: 1 }) },
              ),
            ),
          }),
        ),
        events: Optional(
          group("Makes notifications.", {
            trigger: hook("Creates a notification for an account, and answers with its id."),
          }),
        ),
        callback: Optional(
          group("Sets the callback address of the service.", {
            register: hook("Tells the service where to push, and which authority to trust."),
            restore: Optional(hook("Restores the former callback address at the end of a run.")),
          }),
        ),
        cleanup: Optional(hook("Gets the list of everything the run created, at its end.")),
      }),
    ),
    limits: Optional(
      group("Replace the document's numbers, for a staging service; every report says so first.", {
        codeLifetimeMs: Optional(number("How long a code can be exchanged.", { exclusiveMinimum: 0 })),
        refreshTokenLifetimeMs: Optional(number("How long a refreshToken works.", { exclusiveMinimum: 0 })),
        stateMaxBytes: Optional(integer("The longest state.", { minimum: 1 })),
        defaultLimit: Optional(integer("Items of a page without limit.", { minimum: 1 })),
        defaultPage: Optional(integer("The page without page.", { minimum: 0 })),
        pushDelaysMs: Optional(
          list(
            "Delays of the pushes that repeat a failed one, in order.",
            Type.Number({ exclusiveMinimum: 0 }),
            { minItems: 1, maxItems: 20 },
          ),
        ),
        maxPushes: Optional(
          integer("How often a notification is pushed at most.", { minimum: 1, maximum: 20 }),
        ),
      }),
    ),
    tolerances: Optional(
      group("How far evidence may be off before it says something.", {
        lifetimeGuardMs: Optional(
          described(
            Milliseconds,
            "How close to the end of a lifetime a probe decides nothing; default 500 on a virtual clock, 1500 on a real one. Use 1100 for a service that rounds expiresIn to seconds.",
          ),
        ),
        lifetimeResolutionMs: Optional(
          number(
            "How coarsely the end of a lifetime may be known for the rule to pass; 1 % of the lifetime by default, and at most 60000, but no finer than twice the guard.",
            { exclusiveMinimum: 0 },
          ),
        ),
        visibilityMs: Optional(
          described(
            Milliseconds,
            "How long a new notification may take to be listed; default 30000. On a virtual clock, that much of the clock, and then as much real time (default 2000).",
          ),
        ),
        requestTimeoutMs: Optional(
          number("How long an answer may take; default 10000.", { exclusiveMinimum: 0 }),
        ),
        latenessMs: Optional(
          number(
            "How late a push may be; default a third of the first delay, and at least 15 % of the push's own delay. In real time the default grows by what the run measures.",
            { minimum: 0 },
          ),
        ),
        outageMs: Optional(
          number(
            "How long target and hooks may refuse connections, as in a restart, before the run continues without them; default 60000.",
            { minimum: 0 },
          ),
        ),
      }),
    ),
    concurrency: Optional(Concurrency),
    network: Optional(Network),
    receiver: Optional(Receiver),
    acknowledgement: Optional(
      group("What the service expects from a receiver.", {
        status: integer("The code; default 200.", { minimum: 200, maximum: 299 }),
      }),
    ),
    pins: Optional(
      group("Fingerprints and readings that must not change (exit code 6); requirement ids are the keys.", {
        observations: Optional(
          byName("Unspecified behaviour, as conform --json prints it under fingerprint.", Type.Unknown()),
        ),
        readings: Optional(
          byName("The reading of an ambiguous rule that the service must follow.", Type.String()),
        ),
      }),
    ),
    slos: Optional(Objectives),
    load: Optional(Load),
    safety: Optional(
      group("What a load run may do to this target.", {
        hosts: Optional(
          list(
            "Hosts that may be loaded, exactly as in the address; loopback always may.",
            Type.String({ minLength: 1 }),
          ),
        ),
        maxRate: Optional(number("Highest rate, in requests a second.", { exclusiveMinimum: 0 })),
        maxDurationMs: Optional(number("Longest duration of a load.", { exclusiveMinimum: 0 })),
        abort: Optional(
          group("Gives a run up once so many requests fail for so many seconds on end.", {
            errorShare: Optional(described(Share, "Share of requests that fail.")),
            seconds: Optional(integer("For how many seconds on end.", { minimum: 1 })),
          }),
        ),
      }),
    ),
    waivers: Optional(
      list(
        "Known breaches that do not fail the gate for a while.",
        group("One breach that is excused.", {
          id: text("Requirement id.", { minLength: 1 }),
          reason: text("Why it is excused.", { minLength: 1 }),
          owner: text("Who sees to it.", { minLength: 1 }),
          expires: text("The last day on which it holds, as YYYY-MM-DD.", {
            pattern: "^\\d{4}-\\d{2}-\\d{2}$",
          }),
        }),
      ),
    ),
    notApplicable: Optional(
      byName(
        "Requirement ids that cannot apply to this target, each with its reason. A required one makes the run incomplete.",
        Type.String({ minLength: 1 }),
      ),
    ),
  },
  closed,
);
export type Profile = Static<typeof Profile>;
export type HookAsWritten = Static<typeof Hook>;
export type SecretSource = Static<typeof SecretSource>;
export { secretKey, type SecretValue } from "./profile-hook.ts";

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
 * What one file of several says: any part of a profile. Lists, and what is one of several alternatives, are whole;
 * null takes out what the files before have said (RFC 7396).
 */
export type ProfilePart = PartOf<Profile>;

/** Checks the literal of a file that is laid over another one, and returns it as it is. */
export const defineProfilePart = (part: ProfilePart): ProfilePart => part;

/** Checks a profile's literal at compile time and returns it as it is. */
export const defineProfile = (profile: Profile): Profile => profile;
