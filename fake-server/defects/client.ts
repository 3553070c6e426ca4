import type { Behaviour } from "../behaviour.ts";
import type { FakeClient } from "../clients.ts";
import { type Defect, defect } from "../registry.ts";
import { asText } from "./tools.ts";

type Clients = ReadonlyMap<string, FakeClient>;

const clientOf = (clientId: unknown, clients: Clients): FakeClient | undefined =>
  typeof clientId === "string" ? clients.get(clientId) : undefined;

/** Secrets that pass `accepts`. */
const accepting =
  (accepts: (secret: string, presented: unknown, clients: Clients) => boolean) =>
  (): Pick<Behaviour, "authenticateClient"> => ({
    authenticateClient: (clientId, clientSecret, clients) => {
      const client = clientOf(clientId, clients);
      return client !== undefined && accepts(client.secret, clientSecret, clients) ? client : undefined;
    },
  });

/** Secrets that pass `accepts`, given as text. */
const acceptingText = (
  accepts: (secret: string, presented: string) => boolean,
): ReturnType<typeof accepting> =>
  accepting((secret, presented) => typeof presented === "string" && accepts(secret, presented));

/** Clients that `found` takes a clientId for, when their secret is right. */
const identifying =
  (found: (id: string, presented: unknown) => boolean) => (): Pick<Behaviour, "authenticateClient"> => ({
    authenticateClient: (clientId, clientSecret, clients) =>
      [...clients.values()].find((client) => client.secret === clientSecret && found(client.id, clientId)),
  });

/** Who the client is (sections 4.2 and 5.1) gone wrong. */
export const clientDefects = {
  "secret-ignored": defect(
    "The secret is not looked at.",
    ["exchange.authenticates-client"],
    accepting(() => true),
  ),
  "secret-may-be-absent": defect(
    "A request without a secret passes.",
    ["exchange.authenticates-client"],
    accepting((secret, presented) => presented === undefined || presented === secret),
  ),
  "secret-may-be-null": defect(
    "null passes for every secret.",
    ["exchange.authenticates-client"],
    accepting((secret, presented) => presented === null || presented === secret),
  ),
  "secret-may-be-empty": defect(
    "An empty secret passes.",
    ["exchange.authenticates-client"],
    acceptingText((secret, presented) => presented === "" || presented === secret),
  ),
  "secret-may-be-other-type": defect(
    "Anything that is no string passes for a secret.",
    ["exchange.authenticates-client"],
    accepting(
      (secret, presented) =>
        presented === secret ||
        (presented !== undefined && presented !== null && typeof presented !== "string"),
    ),
  ),
  "secret-in-array-accepted": defect(
    "An array that holds the secret passes for it.",
    ["exchange.authenticates-client"],
    accepting((secret, presented) => asText(presented) === secret),
  ),
  "secret-whatever-its-case": defect(
    "Secrets are compared without regard to case.",
    ["exchange.authenticates-client"],
    acceptingText((secret, presented) => presented.toLowerCase() === secret.toLowerCase()),
  ),
  "secret-by-prefix": defect(
    "As much of the secret as is presented is compared.",
    ["exchange.authenticates-client"],
    acceptingText((secret, presented) => presented !== "" && secret.startsWith(presented)),
  ),
  "secret-by-its-first-eight": defect(
    "Only the first eight characters of a secret are compared.",
    ["exchange.authenticates-client"],
    acceptingText((secret, presented) => presented.slice(0, 8) === secret.slice(0, 8)),
  ),
  "secret-but-for-last-character": defect(
    "The last character of a secret is not compared.",
    ["exchange.authenticates-client"],
    acceptingText((secret, presented) => presented.slice(0, secret.length - 1) === secret.slice(0, -1)),
  ),
  "secret-trimmed": defect(
    "White space around the secret is cut off.",
    ["exchange.authenticates-client"],
    acceptingText((secret, presented) => presented.trim() === secret),
  ),
  "secret-with-suffix": defect(
    "Whatever follows the secret is ignored.",
    ["exchange.authenticates-client"],
    acceptingText((secret, presented) => presented.startsWith(secret)),
  ),
  "secret-of-any-client": defect(
    "The secret of any client passes.",
    ["exchange.authenticates-client"],
    accepting((_secret, presented, clients) =>
      [...clients.values()].some((client) => client.secret === presented),
    ),
  ),
  "secret-remembered": defect(
    "A client that has shown its secret once needs none after that.",
    ["exchange.authenticates-client"],
    (sound) => {
      const known = new Set<string>();
      return {
        authenticateClient: (clientId, clientSecret, clients) => {
          const client = sound.authenticateClient(clientId, clientSecret, clients);
          if (client !== undefined) known.add(client.id);
          return client ?? (known.has(String(clientId)) ? clientOf(clientId, clients) : undefined);
        },
      };
    },
  ),

  "client-found-by-secret": defect(
    "The client is found by its secret, whatever the clientId.",
    ["exchange.unknown-client"],
    identifying(() => true),
  ),
  "client-id-may-be-absent": defect(
    "An absent clientId is made up for by the secret.",
    ["exchange.unknown-client"],
    identifying((id, presented) => presented === undefined || presented === id),
  ),
  "client-id-may-be-empty": defect(
    "An empty clientId is made up for by the secret.",
    ["exchange.unknown-client"],
    identifying((id, presented) => presented === "" || presented === id),
  ),
  "client-id-whatever-its-case": defect(
    "Client ids are compared without regard to case.",
    ["exchange.unknown-client"],
    identifying((id, presented) => String(presented).toLowerCase() === id.toLowerCase()),
  ),
  "client-id-trimmed": defect(
    "White space around the clientId is cut off.",
    ["exchange.unknown-client"],
    identifying((id, presented) => typeof presented === "string" && presented.trim() === id),
  ),
  "client-id-by-prefix": defect(
    "A clientId is found by its first half.",
    ["exchange.unknown-client"],
    identifying(
      (id, presented) => typeof presented === "string" && presented.slice(0, 10) === id.slice(0, 10),
    ),
  ),
  "client-id-in-array-accepted": defect(
    "An array that holds the clientId passes for it.",
    ["exchange.unknown-client"],
    identifying((id, presented) => asText(presented) === id),
  ),
} satisfies Record<string, Defect>;
