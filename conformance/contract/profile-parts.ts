import Type, { Optional, type Static, type TSchema } from "typebox";
import {
  closed,
  described,
  group,
  list,
  optional,
  text,
  number,
  options,
  byName,
  integer,
} from "./schema.ts";
import type { Endpoint } from "./forms.ts";

export const Address = text("An absolute http or https URL.", { minLength: 1 });
export const Milliseconds = Type.Number({ minimum: 0 });

/** A program and its arguments, of which only the arguments may be empty. */
const command = (description: string) =>
  list(description, Type.String(), {
    minItems: 1,
    allOf: [{ items: [text("The program.", { minLength: 1 })] }],
  });

/** Where a secret is kept. Secrets are never written into a profile. */
export const SecretSource = Type.Union(
  [
    Type.Object({ env: text("Name of the environment variable.", { minLength: 1 }) }, closed),
    Type.Object(
      {
        file: text("Path of a file that only its owner may read, relative to the profile.", { minLength: 1 }),
      },
      closed,
    ),
    Type.Object(
      {
        command: command(
          "Program and arguments; its output, without the trailing line break, is the secret.",
        ),
      },
      closed,
    ),
  ],
  {
    description:
      'where the secret is stored, never the secret itself: { "env": NAME }, { "file": PATH } or { "command": [program, ...arguments] }',
  },
);

const prefix = {
  prefix: Optional(text('What stands before the secret, such as "Bearer " or "session=".')),
};

/** The value of a header or query parameter: literal text, or the source of a secret with an optional prefix. */
export const SecretValue = Type.Union(
  [
    Type.String(),
    ...SecretSource.anyOf.map((source) => Type.Object({ ...source.properties, ...prefix }, closed)),
  ],
  {
    description:
      'a text, or where it is kept: { "env": NAME }, { "file": PATH } or { "command": [program, ...arguments] }, each with "prefix" if the value begins with something else',
  },
);
export type SecretValue = string | (Static<typeof SecretSource> & { readonly prefix?: string });

export const Headers = Type.Unsafe<Record<string, SecretValue>>(Type.Record(Type.String(), SecretValue));

/** The key of an object that stands for a secret in the body of a hook. */
export const secretKey = "$secret";

const optionsOf = (whatItPrints: string) =>
  optional({
    result: text(`JSON pointer to the value in the ${whatItPrints}.`),
    timeoutMs: described(Milliseconds, "Timeout; default 10000, and 60000 for clock.advance."),
  });

const hookForm =
  '{ "http": { "method", "url", "headers", "body" } } or { "command": [program, ...arguments] }';

/** A call that the harness makes for something the service's own interface does not offer. */
export const Hook = Type.Union(
  [
    Type.Object(
      {
        http: group("The call, over HTTP.", {
          method: Optional(text("GET by default, POST with a body.")),
          url: Address,
          headers: Optional(described(Headers, "Headers of the call.")),
          body: Optional(
            Type.Unknown({
              description:
                'JSON; strings in it may hold {{placeholders}}, and { "$secret": { "env": NAME } } stands for a secret.',
            }),
          ),
        }),
        ...optionsOf("answer"),
      },
      closed,
    ),
    Type.Object(
      {
        command: command(
          "Program and arguments; {{placeholders}} are replaced. It prints JSON or plain text.",
        ),
        ...optionsOf("output"),
      },
      closed,
    ),
  ],
  { description: hookForm },
);

export const hook = (purpose: string): typeof Hook => described(Hook, `${purpose} ${hookForm}`);

export const Share = Type.Number({ minimum: 0, maximum: 1 });

const percentile = (rank: number) =>
  described(Milliseconds, `Highest ${rank}th percentile of the latency, in milliseconds.`);

/** Some percentiles by name, and any other by its number. */
const percentiles = {
  p50Ms: percentile(50),
  p90Ms: percentile(90),
  p95Ms: percentile(95),
  p99Ms: percentile(99),
  p999Ms: percentile(99.9),
  percentilesMs: Type.Record(Type.String({ pattern: "^(?:[1-9]\\d?|0)(?:\\.\\d{1,4})?$" }), Milliseconds, {
    ...closed,
    description:
      'Any other percentile above 0 and below 100, such as { "75": 200, "99.95": 2000 }, in milliseconds.',
  }),
};

/** Objectives of one endpoint under load; percentiles count granted requests only. */
const EndpointObjectives = options("Objectives of this endpoint; percentiles count granted requests only.", {
  ...percentiles,
  errorShare: described(Share, "Highest share of requests that may fail."),
  minPerSecond: number("Lowest number of granted requests per second.", { minimum: 0 }),
});

const weight = (what: string) => number(`Weight of visits that ${what}.`, { minimum: 0, maximum: 1_000_000 });

export const Load = options("The course of a load, and what clients do under it.", {
  shape: Type.Union([Type.Array(Type.String(), { minItems: 1 }), Type.String()], {
    description:
      'The shape of the load: a name, as for `--shape`, or stages, written as for `--stage`, such as ["30s:100", "1m:500"]. `load` plays it unless --stage or --shape is given, and stages unless --rate or --duration is.',
  }),
  mixed: options("How visits of the scenario mixed begin, by weight.", {
    authorize: weight("begin with an authorization (default 25)"),
    refresh: weight("refresh the tokens kept (default 35)"),
    resume: weight("use the tokens kept as they are (default 40)"),
  }),
});

/** What a load run must achieve; omitted objectives keep their defaults. */
export const Objectives = options(
  "Objectives under load, by endpoint (authorize, exchange, refresh, list) and for pushes.",
  {
    endpoints: options("Objectives by endpoint.", {
      authorize: EndpointObjectives,
      exchange: EndpointObjectives,
      refresh: EndpointObjectives,
      list: EndpointObjectives,
    } satisfies Record<Endpoint, TSchema>),
    push: options("Delay from an event to its first push.", percentiles),
  },
);

/** The receiver that pushes are sent to: our own, or one that runs elsewhere and is controlled through its interface. */
export const Receiver = Type.Union(
  [
    Type.Object(
      {
        listen: options("Starts a receiver for the run with these settings.", {
          host: text("Address to listen on; default 127.0.0.1."),
          publicHost: text("Name under which the service reaches it, if different.", { minLength: 1 }),
          port: integer("Port; any free one by default.", { minimum: 0, maximum: 65_535 }),
          scheme: Type.Union([Type.Literal("https"), Type.Literal("http")], {
            description: "https by default.",
          }),
          path: text("Path of the callback; default /service/webhook.", { pattern: "^/" }),
          certificateFolder: text(
            "Where the receiver's self-made certificate is kept, relative to the profile.",
            { minLength: 1 },
          ),
          certificate: group("PEM files, relative to the profile; default: a generated one.", {
            certFile: text("The certificate.", { minLength: 1 }),
            keyFile: text("Its key; only its owner may read it.", { minLength: 1 }),
          }),
        }),
      },
      closed,
    ),
    Type.Object(
      {
        attach: group("Uses a receiver that runs elsewhere, through its control interface.", {
          controlUrl: Address,
          token: Optional(SecretSource),
        }),
      },
      closed,
    ),
  ],
  {
    description:
      '{ "listen": { "host", "publicHost", "port", "scheme", "path", "certificate", "certificateFolder" } } or { "attach": { "controlUrl", "token" } }',
  },
);

/** How the harness reaches the target and its hooks. No key turns certificate checks off. */
export const Network = options(
  "How target and hooks are reached: caFile, clientCertificate, proxy, resolve.",
  {
    caFile: text("PEM file of additional trusted authorities, relative to the profile.", { minLength: 1 }),
    clientCertificate: group("The client certificate to present when asked.", {
      certFile: text("PEM, relative to the profile.", { minLength: 1 }),
      keyFile: text("PEM; only its owner may read it.", { minLength: 1 }),
      passphrase: Optional(SecretSource),
    }),
    proxy: group("HTTP proxy for every connection, by CONNECT; connections to this machine never use it.", {
      url: Type.Union([Address, SecretSource], {
        description:
          "Address of an HTTP proxy; as { env }, { file } or { command } it may hold a user and a password.",
      }),
      except: Optional(
        list(
          "Hosts that are reached directly; a leading dot stands for all subdomains.",
          Type.String({ minLength: 1 }),
        ),
      ),
    }),
    resolve: byName(
      "Addresses to connect to, by host name; the name is still used for Host and the certificate check.",
      Type.String({ minLength: 1 }),
    ),
  },
);

export const Concurrency = options(
  "How much the gate does at a time: maxConnections, maxCases, eventsPerSecond, requestsPerSecond, refusedPerMinute.",
  {
    maxConnections: integer("Connections to the target kept open; default 64.", {
      minimum: 1,
      maximum: 1_024,
    }),
    maxCases: integer(
      "Cases of all rules that run concurrently; default 24, or 64 if an answer takes 50 ms or more.",
      { minimum: 1, maximum: 1_024 },
    ),
    eventsPerSecond: number(
      "Events triggered per second, so that a slow sender is not busy with the run's own burst; default: spread over half the first delay in real time (some 10 per second with the document's), without a limit on a clock that can be moved.",
      { exclusiveMinimum: 0, maximum: 1_000 },
    ),
    requestsPerSecond: number(
      "Most requests to the target per second, as by --pace; default: none, until a rate limiter shows.",
      { exclusiveMinimum: 0, maximum: 100_000 },
    ),
    refusedPerMinute: integer(
      "Most requests per minute that are refused, as many are on purpose; default: none, until the service locks a client out.",
      { minimum: 1, maximum: 100_000 },
    ),
  },
);
