import Type, { type Static } from "typebox";
import { Address, closed, Headers, Hook, Milliseconds, SecretSource } from "./profile-hook.ts";
import { Concurrency, Network, Receiver } from "./profile-network.ts";
import { Objectives, Share } from "./profile-objectives.ts";

const ProfileClient = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    secret: SecretSource,
    redirectUri: Address,
  },
  closed,
);

/**
 * All that is particular to one target. Times are in milliseconds and say so in their
 * names. Which placeholders a hook may hold says `hookPlaceholders`.
 */
export const Profile = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    name: Type.Optional(Type.String({ description: "How reports call the target." })),
    baseUrl: Address,
    clients: Type.Array(ProfileClient, { minItems: 1, maxItems: 2 }),
    headers: Type.Optional(Headers),
    authorize: Type.Optional(
      Type.Object(
        {
          headers: Type.Optional(Headers),
          query: Type.Optional(Headers),
          code: Type.Optional(Hook),
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
                now: Type.Optional(Hook),
                advance: Type.Optional(Hook),
                faketime: Type.Optional(
                  Type.Object(
                    { file: Type.String({ minLength: 1 }) },
                    {
                      ...closed,
                      description:
                        "Moves the clock of a service under libfaketime by writing the file that its FAKETIME_TIMESTAMP_FILE names; instead of advance.",
                    },
                  ),
                ),
              },
              closed,
            ),
          ),
          events: Type.Optional(Type.Object({ trigger: Hook }, closed)),
          callback: Type.Optional(Type.Object({ register: Hook, restore: Type.Optional(Hook) }, closed)),
          cleanup: Type.Optional(Hook),
        },
        closed,
      ),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          codeLifetimeMs: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
          refreshTokenLifetimeMs: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
          stateMaxBytes: Type.Optional(Type.Integer({ minimum: 1 })),
          defaultLimit: Type.Optional(Type.Integer({ minimum: 1 })),
          defaultPage: Type.Optional(Type.Integer({ minimum: 0 })),
          pushDelaysMs: Type.Optional(
            Type.Array(Type.Number({ exclusiveMinimum: 0 }), { minItems: 1, maxItems: 20 }),
          ),
          maxPushes: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
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
          lifetimeGuardMs: Type.Optional(Milliseconds),
          lifetimeResolutionMs: Type.Optional(
            Type.Number({
              exclusiveMinimum: 0,
              description:
                "How coarsely the end of a lifetime may be known for the rule to pass; 1 % of the lifetime by default, and at most 60000.",
            }),
          ),
          visibilityMs: Type.Optional(Milliseconds),
          requestTimeoutMs: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
          latenessMs: Type.Optional(
            Type.Number({
              minimum: 0,
              description: "How late a push may be; default a third of the first delay.",
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
        closed,
      ),
    ),
    concurrency: Type.Optional(Concurrency),
    network: Type.Optional(Network),
    receiver: Type.Optional(Receiver),
    acknowledgement: Type.Optional(
      Type.Object(
        { status: Type.Integer({ minimum: 200, maximum: 299 }) },
        {
          ...closed,
          description: "The status code that the service expects from a receiver; default 200.",
        },
      ),
    ),
    pins: Type.Optional(
      Type.Object(
        {
          observations: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
          readings: Type.Optional(Type.Record(Type.String(), Type.String())),
        },
        {
          ...closed,
          description: "Fingerprints and readings that must not change; requirement ids are the keys.",
        },
      ),
    ),
    slos: Type.Optional(Objectives),
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
          maxDurationMs: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
          abort: Type.Optional(
            Type.Object(
              {
                errorShare: Type.Optional(Share),
                seconds: Type.Optional(Type.Integer({ minimum: 1 })),
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
            reason: Type.String({ minLength: 1 }),
            owner: Type.String({ minLength: 1 }),
            expires: Type.String({
              pattern: "^\\d{4}-\\d{2}-\\d{2}$",
              description: "The last day on which it holds, as YYYY-MM-DD.",
            }),
          },
          closed,
        ),
        { description: "Known breaches that do not fail the gate for a while." },
      ),
    ),
    notApplicable: Type.Optional(
      Type.Record(Type.String(), Type.String({ minLength: 1 }), {
        description: "Requirement ids that cannot apply to this target, each with its reason.",
      }),
    ),
  },
  closed,
);
export type Profile = Static<typeof Profile>;
export type HookAsWritten = Static<typeof Hook>;
export type SecretSource = Static<typeof SecretSource>;
export { secretKey, type SecretValue } from "./profile-hook.ts";

/** The hooks of a profile, and the {{placeholders}} that each is given. */
export const hookPlaceholders = {
  "hooks.clock.now": [],
  "hooks.clock.advance": ["ms", "seconds"],
  "hooks.events.trigger": ["accountId", "clientId", "n"],
  "hooks.callback.register": ["url", "ca"],
  "hooks.callback.restore": ["url"],
  "hooks.cleanup": [],
  "authorize.code": ["clientId", "state", "redirectUri"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type HookName = keyof typeof hookPlaceholders;

interface HooksOf<Written> {
  readonly authorize?: { readonly code?: Written };
  readonly hooks?: {
    readonly clock?: { readonly now?: Written; readonly advance?: Written };
    readonly events?: { readonly trigger: Written };
    readonly callback?: { readonly register: Written; readonly restore?: Written };
    readonly cleanup?: Written;
  };
}

/** The hooks that a profile has, each with its key. `ca` is the PEM of the authority that signed the receiver's certificate. */
export const hooksOf = <Written extends HookAsWritten>({
  hooks,
  authorize,
}: HooksOf<Written>): readonly (readonly [HookName, Written])[] => {
  const all: Readonly<Record<HookName, Written | undefined>> = {
    "hooks.clock.now": hooks?.clock?.now,
    "hooks.clock.advance": hooks?.clock?.advance,
    "hooks.events.trigger": hooks?.events?.trigger,
    "hooks.callback.register": hooks?.callback?.register,
    "hooks.callback.restore": hooks?.callback?.restore,
    "hooks.cleanup": hooks?.cleanup,
    "authorize.code": authorize?.code,
  };
  return Object.entries(all).flatMap(([name, hook]) =>
    hook === undefined ? [] : [[name as HookName, hook]],
  );
};

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
