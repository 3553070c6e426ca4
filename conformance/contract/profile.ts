import Type, { type Static } from "typebox";

const closed = { additionalProperties: false } as const;
const Address = Type.String({ minLength: 1, description: "An absolute http or https URL." });
const Headers = Type.Record(Type.String(), Type.String());
const Milliseconds = Type.Number({ minimum: 0 });

/** Where a secret is kept. It is never written into a profile. */
const SecretSource = Type.Union(
  [
    Type.Object(
      { env: Type.String({ minLength: 1, description: "Name of the environment variable." }) },
      closed,
    ),
    Type.Object(
      { file: Type.String({ minLength: 1, description: "Path of a file, relative to the profile." }) },
      closed,
    ),
  ],
  { description: '{ "env": NAME } or { "file": PATH }' },
);

const ProfileClient = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    secret: SecretSource,
    redirectUri: Address,
  },
  closed,
);

/** One call that the harness makes for something the service's own interface does not offer. */
const Hook = Type.Union(
  [
    Type.Object(
      {
        http: Type.Object(
          {
            method: Type.Optional(Type.String({ description: "GET by default, POST with a body." })),
            url: Address,
            headers: Type.Optional(Headers),
            body: Type.Optional(
              Type.Unknown({ description: "JSON; strings in it may hold {{placeholders}}." }),
            ),
          },
          closed,
        ),
        result: Type.Optional(Type.String({ description: "JSON pointer to the value in the answer." })),
        timeoutMs: Type.Optional(Milliseconds),
      },
      closed,
    ),
    Type.Object(
      {
        command: Type.Array(Type.String(), {
          minItems: 1,
          description: "Program and arguments; {{placeholders}} are replaced. It prints JSON or plain text.",
        }),
        result: Type.Optional(Type.String({ description: "JSON pointer to the value in what it prints." })),
        timeoutMs: Type.Optional(Milliseconds),
      },
      closed,
    ),
  ],
  {
    description:
      '{ "http": { "method", "url", "headers", "body" } } or { "command": [program, ...arguments] }',
  },
);

/** The receiver that pushes are sent to: one of our own, or one that runs elsewhere and is reached through its control interface. */
const Receiver = Type.Union(
  [
    Type.Object(
      {
        listen: Type.Object(
          {
            host: Type.Optional(
              Type.String({ description: "Address to listen on; 127.0.0.1 where left out." }),
            ),
            publicHost: Type.Optional(
              Type.String({
                minLength: 1,
                description: "Name under which the service reaches it, where that is another.",
              }),
            ),
            port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
            scheme: Type.Optional(Type.Union([Type.Literal("https"), Type.Literal("http")])),
            path: Type.Optional(Type.String({ pattern: "^/" })),
            certificateFolder: Type.Optional(
              Type.String({
                minLength: 1,
                description:
                  "Where a certificate of the receiver's own making is kept, relative to the profile.",
              }),
            ),
            certificate: Type.Optional(
              Type.Object(
                { certFile: Type.String({ minLength: 1 }), keyFile: Type.String({ minLength: 1 }) },
                {
                  ...closed,
                  description:
                    "PEM files, relative to the profile; one of the receiver's own making where left out.",
                },
              ),
            ),
          },
          closed,
        ),
      },
      closed,
    ),
    Type.Object(
      { attach: Type.Object({ controlUrl: Address, token: Type.Optional(SecretSource) }, closed) },
      closed,
    ),
  ],
  {
    description:
      '{ "listen": { "host", "publicHost", "port", "scheme", "path", "certificate", "certificateFolder" } } or { "attach": { "controlUrl", "token" } }',
  },
);

const Share = Type.Number({ minimum: 0, maximum: 1 });

/** Objectives of one endpoint under load; percentiles count granted requests only. */
const EndpointObjectives = Type.Object(
  {
    p50Ms: Type.Optional(Milliseconds),
    p95Ms: Type.Optional(Milliseconds),
    p99Ms: Type.Optional(Milliseconds),
    errorShare: Type.Optional(Share),
    minPerSecond: Type.Optional(Type.Number({ minimum: 0 })),
  },
  closed,
);

/** What a load run has to come to; what is left out keeps its default. */
const Objectives = Type.Object(
  {
    endpoints: Type.Optional(
      Type.Object(
        {
          authorize: Type.Optional(EndpointObjectives),
          exchange: Type.Optional(EndpointObjectives),
          refresh: Type.Optional(EndpointObjectives),
          list: Type.Optional(EndpointObjectives),
        },
        closed,
      ),
    ),
    push: Type.Optional(
      Type.Object(
        {
          p50Ms: Type.Optional(Milliseconds),
          p95Ms: Type.Optional(Milliseconds),
          p99Ms: Type.Optional(Milliseconds),
        },
        { ...closed, description: "Delay from an event to its first push." },
      ),
    ),
  },
  {
    ...closed,
    description: "Objectives under load, by endpoint (authorize, exchange, refresh, list) and for pushes.",
  },
);

/**
 * All that is particular to one target. Times are in milliseconds and say so in their
 * names. Placeholders in hooks: {{ms}} and {{seconds}} (clock.advance), {{accountId}} and
 * {{clientId}} (events.trigger), {{url}} and {{ca}}, the PEM of the authority that signed the receiver's
 * certificate (callback.register).
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
        { headers: Type.Optional(Headers), query: Type.Optional(Type.Record(Type.String(), Type.String())) },
        { ...closed, description: "What authorize alone needs to get past consent." },
      ),
    ),
    accounts: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 2,
        description: "Accounts that events may be triggered for; fresh UUIDs where left out.",
      }),
    ),
    hooks: Type.Optional(
      Type.Object(
        {
          clock: Type.Optional(
            Type.Object({ now: Type.Optional(Hook), advance: Type.Optional(Hook) }, closed),
          ),
          events: Type.Optional(Type.Object({ trigger: Hook }, closed)),
          callback: Type.Optional(Type.Object({ register: Hook }, closed)),
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
          visibilityMs: Type.Optional(Milliseconds),
          requestTimeoutMs: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
          latenessMs: Type.Optional(
            Type.Number({
              minimum: 0,
              description: "How late a push may be; a third of the first delay where left out.",
            }),
          ),
        },
        closed,
      ),
    ),
    receiver: Type.Optional(Receiver),
    acknowledgement: Type.Optional(
      Type.Object(
        { status: Type.Integer({ minimum: 200, maximum: 299 }) },
        {
          ...closed,
          description: "The return code that the service expects of a receiver; 200 where left out.",
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
export type HookDefinition = Static<typeof Hook>;

/** Checks a profile's literal at compile time and returns it as it is. */
export const defineProfile = (profile: Profile): Profile => profile;
