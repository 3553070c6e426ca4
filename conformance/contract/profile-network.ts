import Type from "typebox";
import { Address, closed, SecretSource } from "./profile-hook.ts";

/** The receiver that pushes are sent to: one of our own, or one that runs elsewhere and is reached through its control interface. */
export const Receiver = Type.Union(
  [
    Type.Object(
      {
        listen: Type.Object(
          {
            host: Type.Optional(Type.String({ description: "Address to listen on; default 127.0.0.1." })),
            publicHost: Type.Optional(
              Type.String({
                minLength: 1,
                description: "Name under which the service reaches it, where that is another.",
              }),
            ),
            port: Type.Optional(
              Type.Integer({ minimum: 0, maximum: 65_535, description: "Port; any free one by default." }),
            ),
            scheme: Type.Optional(
              Type.Union([Type.Literal("https"), Type.Literal("http")], { description: "https by default." }),
            ),
            path: Type.Optional(
              Type.String({ pattern: "^/", description: "Path of the callback; default /service/webhook." }),
            ),
            certificateFolder: Type.Optional(
              Type.String({
                minLength: 1,
                description:
                  "Where a certificate of the receiver's own making is kept, relative to the profile.",
              }),
            ),
            certificate: Type.Optional(
              Type.Object(
                {
                  certFile: Type.String({ minLength: 1, description: "The certificate." }),
                  keyFile: Type.String({ minLength: 1, description: "Its key; only its owner may read it." }),
                },
                {
                  ...closed,
                  description: "PEM files, relative to the profile; default: a generated one.",
                },
              ),
            ),
          },
          { ...closed, description: "Starts a receiver for the run with these settings." },
        ),
      },
      closed,
    ),
    Type.Object(
      {
        attach: Type.Object(
          { controlUrl: Address, token: Type.Optional(SecretSource) },
          { ...closed, description: "Uses a receiver that runs elsewhere, through its control interface." },
        ),
      },
      closed,
    ),
  ],
  {
    description:
      '{ "listen": { "host", "publicHost", "port", "scheme", "path", "certificate", "certificateFolder" } } or { "attach": { "controlUrl", "token" } }',
  },
);

/** How the harness reaches the target and its hooks. There is no key that turns the check of certificates off. */
export const Network = Type.Object(
  {
    caFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "PEM file of authorities that are trusted besides the usual ones, relative to the profile.",
      }),
    ),
    clientCertificate: Type.Optional(
      Type.Object(
        {
          certFile: Type.String({ minLength: 1, description: "PEM, relative to the profile." }),
          keyFile: Type.String({ minLength: 1, description: "PEM; only its owner may read it." }),
          passphrase: Type.Optional(SecretSource),
        },
        { ...closed, description: "What the harness shows where it is asked for a certificate." },
      ),
    ),
    proxy: Type.Optional(
      Type.Object(
        {
          url: Type.Union([Address, SecretSource], {
            description:
              "Address of an HTTP proxy; as { env }, { file } or { command } it may hold a user and a password.",
          }),
          except: Type.Optional(
            Type.Array(Type.String({ minLength: 1 }), {
              description: "Hosts that are reached directly; a leading dot stands for all below it.",
            }),
          ),
        },
        {
          ...closed,
          description: "Every connection goes through it by CONNECT; this machine's own never do.",
        },
      ),
    ),
    resolve: Type.Optional(
      Type.Record(Type.String(), Type.String({ minLength: 1 }), {
        description: "Addresses to connect to, by host name; the name stays in Host and in the certificate.",
      }),
    ),
  },
  { ...closed, description: "How target and hooks are reached: caFile, clientCertificate, proxy, resolve." },
);

/** How much the gate does at a time. Races and raw requests open a few more connections. */
export const Concurrency = Type.Object(
  {
    maxConnections: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_024,
        description: "Connections to the target that are kept open; default 64.",
      }),
    ),
    maxCases: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_024,
        description:
          "Cases of all rules that run at a time; default 24, or 64 if an answer takes 50 ms or more.",
      }),
    ),
  },
  { ...closed, description: "How much the gate does at a time: maxConnections, maxCases." },
);
