import Type, { Optional } from "typebox";
import { byName, closed, group, integer, list, options, text } from "./schema.ts";
import { Address, SecretSource } from "./profile-hook.ts";

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

export const Concurrency = options("How much the gate does concurrently: maxConnections, maxCases.", {
  maxConnections: integer("Connections to the target kept open; default 64.", { minimum: 1, maximum: 1_024 }),
  maxCases: integer(
    "Cases of all rules that run concurrently; default 24, or 64 if an answer takes 50 ms or more.",
    { minimum: 1, maximum: 1_024 },
  ),
});
