import Type, { type Static } from "typebox";
import { closed, described, Headers, hook, type Hook, Milliseconds, SecretSource } from "./profile-hook.ts";
import { Concurrency, Network, Receiver } from "./profile-network.ts";
import { Load, Objectives, Share } from "./profile-objectives.ts";

const ProfileClient = Type.Object(
  {
    id: Type.String({ minLength: 1, description: "clientId, as the service issued it." }),
    secret: SecretSource,
    redirectUri: Type.String({
      minLength: 1,
      description: "The client's redirectUri as registered, an absolute URL.",
    }),
  },
  { ...closed, description: "An OAuth client." },
);

/**
 * All that is particular to one target. Times are in milliseconds and say so in their
 * names. Which placeholders a hook may hold says `hookPlaceholders`.
 */
export const Profile = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: "JSON Schema of profiles, for editors." })),
    name: Type.Optional(Type.String({ description: "How reports call the target." })),
    baseUrl: Type.String({
      minLength: 1,
      description: "The part of the service's addresses before /open-api/, an absolute http or https URL.",
    }),
    clients: Type.Array(ProfileClient, {
      minItems: 1,
      maxItems: 2,
      description: "OAuth clients. Rules that compare two clients need the second one.",
    }),
    headers: Type.Optional(described(Headers, "Further headers of every request.")),
    authorize: Type.Optional(
      Type.Object(
        {
          headers: Type.Optional(described(Headers, "Headers of authorize requests.")),
          query: Type.Optional(described(Headers, "Parameters added to authorize requests.")),
          code: Type.Optional(hook("Goes through consent and answers with the code.")),
        },
        {
          ...closed,
          description:
            "What authorize alone needs to get past consent: headers, query, or code, a hook that goes through it.",
        },
      ),
    ),
    accounts: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 2,
        description: "Accounts that events may be triggered for; default: fresh UUIDs.",
      }),
    ),
    hooks: Type.Optional(
      Type.Object(
        {
          clock: Type.Optional(
            Type.Object(
              {
                now: Type.Optional(hook("Tells the service's time.")),
                advance: Type.Optional(hook("Advances the service's clock by at least so much.")),
                faketime: Type.Optional(
                  Type.Object(
                    { file: Type.String({ minLength: 1, description: "The file that libfaketime reads." }) },
                    {
                      ...closed,
                      description:
                        "Moves the clock of a service under libfaketime by writing the file that its FAKETIME_TIMESTAMP_FILE names; instead of advance.",
                    },
                  ),
                ),
              },
              { ...closed, description: "Moves the service's clock, so that rules of 30 days take seconds." },
            ),
          ),
          events: Type.Optional(
            Type.Object(
              { trigger: hook("Creates a notification for an account, and answers with its id.") },
              { ...closed, description: "Makes notifications." },
            ),
          ),
          callback: Type.Optional(
            Type.Object(
              {
                register: hook("Tells the service where to push, and which authority to trust."),
                restore: Type.Optional(hook("Restores the former callback address at the end of a run.")),
              },
              { ...closed, description: "Sets the callback address of the service." },
            ),
          ),
          cleanup: Type.Optional(hook("Gets the list of everything the run created, at its end.")),
        },
        { ...closed, description: "What the service's own interface does not offer." },
      ),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          codeLifetimeMs: Type.Optional(
            Type.Number({ exclusiveMinimum: 0, description: "How long a code can be exchanged." }),
          ),
          refreshTokenLifetimeMs: Type.Optional(
            Type.Number({ exclusiveMinimum: 0, description: "How long a refreshToken works." }),
          ),
          stateMaxBytes: Type.Optional(Type.Integer({ minimum: 1, description: "The longest state." })),
          defaultLimit: Type.Optional(
            Type.Integer({ minimum: 1, description: "Items of a page without limit." }),
          ),
          defaultPage: Type.Optional(Type.Integer({ minimum: 0, description: "The page without page." })),
          pushDelaysMs: Type.Optional(
            Type.Array(Type.Number({ exclusiveMinimum: 0 }), {
              minItems: 1,
              maxItems: 20,
              description: "Delays of the pushes that repeat a failed one, in order.",
            }),
          ),
          maxPushes: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 20,
              description: "How often a notification is pushed at most.",
            }),
          ),
        },
        {
          ...closed,
          description: "Replace the document's numbers, for a staging service; every report says so first.",
        },
      ),
    ),
    tolerances: Type.Optional(
      Type.Object(
        {
          lifetimeGuardMs: Type.Optional(
            described(
              Milliseconds,
              "How close to the end of a lifetime a probe decides nothing; default 500 on a virtual clock, 1500 on a real one. Use 1100 for a service that rounds expiresIn to seconds.",
            ),
          ),
          lifetimeResolutionMs: Type.Optional(
            Type.Number({
              exclusiveMinimum: 0,
              description:
                "How coarsely the end of a lifetime may be known for the rule to pass; 1 % of the lifetime by default, and at most 60000, but no finer than twice the guard.",
            }),
          ),
          visibilityMs: Type.Optional(
            described(
              Milliseconds,
              "How long a new notification may take to be listed; default 30000. On a virtual clock, that much of the clock, and then as much real time (default 2000).",
            ),
          ),
          requestTimeoutMs: Type.Optional(
            Type.Number({ exclusiveMinimum: 0, description: "How long an answer may take; default 10000." }),
          ),
          latenessMs: Type.Optional(
            Type.Number({
              minimum: 0,
              description:
                "How late a push may be; default a third of the first delay, and at least 15 % of the push's own delay. In real time the default grows by what the run measures.",
            }),
          ),
          outageMs: Type.Optional(
            Type.Number({
              minimum: 0,
              description:
                "How long target and hooks may refuse connections, as in a restart, before the run continues without them; default 60000.",
            }),
          ),
        },
        { ...closed, description: "How far evidence may be off before it says something." },
      ),
    ),
    concurrency: Type.Optional(Concurrency),
    network: Type.Optional(Network),
    receiver: Type.Optional(Receiver),
    acknowledgement: Type.Optional(
      Type.Object(
        { status: Type.Integer({ minimum: 200, maximum: 299, description: "The code; default 200." }) },
        {
          ...closed,
          description: "What the service expects from a receiver.",
        },
      ),
    ),
    pins: Type.Optional(
      Type.Object(
        {
          observations: Type.Optional(
            Type.Record(Type.String(), Type.Unknown(), {
              description: "Unspecified behaviour, as conform --json prints it under fingerprint.",
            }),
          ),
          readings: Type.Optional(
            Type.Record(Type.String(), Type.String(), {
              description: "The reading of an ambiguous rule that the service must follow.",
            }),
          ),
        },
        {
          ...closed,
          description:
            "Fingerprints and readings that must not change (exit code 6); requirement ids are the keys.",
        },
      ),
    ),
    slos: Type.Optional(Objectives),
    load: Type.Optional(Load),
    safety: Type.Optional(
      Type.Object(
        {
          hosts: Type.Optional(
            Type.Array(Type.String({ minLength: 1 }), {
              description: "Hosts that may be loaded, exactly as in the address; loopback always may.",
            }),
          ),
          maxRate: Type.Optional(
            Type.Number({ exclusiveMinimum: 0, description: "Highest rate, in requests a second." }),
          ),
          maxDurationMs: Type.Optional(
            Type.Number({ exclusiveMinimum: 0, description: "Longest duration of a load." }),
          ),
          abort: Type.Optional(
            Type.Object(
              {
                errorShare: Type.Optional(described(Share, "Share of requests that fail.")),
                seconds: Type.Optional(
                  Type.Integer({ minimum: 1, description: "For how many seconds on end." }),
                ),
              },
              {
                ...closed,
                description: "Gives a run up once so many requests fail for so many seconds on end.",
              },
            ),
          ),
        },
        { ...closed, description: "What a load run may do to this target." },
      ),
    ),
    waivers: Type.Optional(
      Type.Array(
        Type.Object(
          {
            id: Type.String({ minLength: 1, description: "Requirement id." }),
            reason: Type.String({ minLength: 1, description: "Why it is excused." }),
            owner: Type.String({ minLength: 1, description: "Who sees to it." }),
            expires: Type.String({
              pattern: "^\\d{4}-\\d{2}-\\d{2}$",
              description: "The last day on which it holds, as YYYY-MM-DD.",
            }),
          },
          { ...closed, description: "One breach that is excused." },
        ),
        { description: "Known breaches that do not fail the gate for a while." },
      ),
    ),
    notApplicable: Type.Optional(
      Type.Record(Type.String(), Type.String({ minLength: 1 }), {
        description:
          "Requirement ids that cannot apply to this target, each with its reason. A required one makes the run incomplete.",
      }),
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
