import { createHash } from "node:crypto";
import { isObject } from "../../conformance/contract/json.ts";
import { asText, counted } from "../changes.ts";
import { type FakeClient, unregistered } from "../clients.ts";
import { ignoringCase, ignoringLast, ignoringSpace, ignoringSuffix } from "../credentials.ts";
import { change, keeping, type Replacement, rows } from "../registry.ts";

type Clients = ReadonlyMap<string, FakeClient>;

const clientOf = (clientId: unknown, clients: Clients): FakeClient | undefined =>
  typeof clientId === "string" ? clients.get(clientId) : undefined;

/** Secrets that satisfy `accepts`. */
const accepting = (
  accepts: (secret: string, presented: unknown, clients: Clients) => boolean,
): Replacement => ({
  authenticateClient: (clientId, clientSecret, clients) => {
    const client = clientOf(clientId, clients);
    return client !== undefined && accepts(client.secret, clientSecret, clients) ? client : undefined;
  },
});

const acceptingText = (accepts: (secret: string, presented: string) => boolean): Replacement =>
  accepting((secret, presented) => typeof presented === "string" && accepts(secret, presented));

/** The right secret, or no secret but this value. */
const acceptingAlso = (value: unknown): Replacement =>
  accepting((secret, presented) => presented === value || presented === secret);

/** Accepts a clientId if `found` matches a client and the secret is right. */
const identifying = (found: (id: string, presented: unknown) => boolean): Replacement => ({
  authenticateClient: (clientId, clientSecret, clients) =>
    [...clients.values()].find((client) => client.secret === clientSecret && found(client.id, clientId)),
});

/** Defects in client authentication (sections 4.2 and 5.1). */
export const clientDefects = rows({
  "exchange.authenticates-client": {
    "secret-ignored: The secret is not checked.": accepting(() => true),
    "secret-may-be-absent: A request without a secret is accepted.": acceptingAlso(undefined),
    "secret-may-be-null: null is accepted as every client's secret.": acceptingAlso(null),
    "secret-may-be-empty: An empty secret is accepted.": acceptingAlso(""),
    "secret-may-be-other-type: Anything that is not a string is accepted as the secret.": accepting(
      (secret, presented) =>
        presented === secret ||
        (presented !== undefined && presented !== null && typeof presented !== "string"),
    ),
    "secret-in-array-accepted: An array that contains the secret is accepted.": accepting(
      (secret, presented) => asText(presented) === secret,
    ),
    "secret-object-names-its-column: An object in place of the secret names the column, whose comparison with itself is true.":
      accepting(
        (secret, presented) => presented === secret || (isObject(presented) && "client_secret" in presented),
      ),
    "secret-whatever-its-case: Secrets are compared case-insensitively.": acceptingText(ignoringCase),
    "secret-by-prefix: Any prefix of the secret is accepted.": acceptingText(
      (secret, presented) => presented !== "" && secret.startsWith(presented),
    ),
    "secret-by-its-first-eight: Only the first eight characters of a secret are compared.": acceptingText(
      (secret, presented) => presented.slice(0, 8) === secret.slice(0, 8),
    ),
    "secret-but-for-last-character: The last character of a secret is ignored.": acceptingText(ignoringLast),
    "secret-trimmed: White space around the secret is removed.": acceptingText(ignoringSpace),
    "secret-with-suffix: Whatever follows the secret is ignored.": acceptingText(ignoringSuffix),
    "secret-of-any-client: The secret of any client is accepted.": accepting((_secret, presented, clients) =>
      [...clients.values()].some((client) => client.secret === presented),
    ),
    "secret-remembered: A client that has sent its secret once never needs it again.": keeping(
      (known = new Set<string>()) =>
        change("authenticateClient", (client, clientId, _secret, clients) => {
          if (client !== undefined) known.add(client.id);
          return client ?? (known.has(String(clientId)) ? clientOf(clientId, clients) : undefined);
        }),
    ),
    "secret-right-at-fifth-attempt: A secret that was refused four times is accepted.": keeping(
      (attempts = counted(new Map())) =>
        change("authenticateClient", (usual, clientId, secret, clients) =>
          attempts(secret) >= 5 && typeof secret === "string" && secret.length > 8
            ? clientOf(clientId, clients)
            : usual,
        ),
    ),
    "secret-by-longer-half: Any prefix of at least half of the secret is accepted.": acceptingText(
      (secret, presented) => presented.length > secret.length / 2 && secret.startsWith(presented),
    ),
    "secret-by-its-hash: The stored hash of a secret is accepted in its place.": acceptingText(
      (secret, presented) =>
        presented === secret || presented === createHash("sha256").update(secret).digest("hex"),
    ),
    "secret-of-great-length: Secrets of more than four thousand characters are not compared.": acceptingText(
      (secret, presented) => presented === secret || presented.length > 4_096,
    ),
  },
  "exchange.unknown-client": {
    "client-found-by-secret: The client is identified by the secret alone.": identifying(() => true),
    "client-id-may-be-absent: A clientId may be absent if the secret is right.": identifying(
      (id, presented) => presented === undefined || presented === id,
    ),
    "client-id-may-be-empty: A clientId may be empty if the secret is right.": identifying(
      (id, presented) => presented === "" || presented === id,
    ),
    "client-id-whatever-its-case: Client ids are compared case-insensitively.": identifying((id, presented) =>
      ignoringCase(id, String(presented)),
    ),
    "client-id-trimmed: White space around the clientId is removed.": identifying(
      (id, presented) => typeof presented === "string" && presented.trim() === id,
    ),
    "client-id-by-prefix: A client is looked up by the first half of its id.": identifying(
      (id, presented) => typeof presented === "string" && presented.slice(0, 10) === id.slice(0, 10),
    ),
    "client-id-in-array-accepted: An array that contains the clientId is accepted.": identifying(
      (id, presented) => asText(presented) === id,
    ),
    "client-id-of-plain-object: Clients are looked up in a plain object, so the id constructor is found.": {
      authenticateClient: (clientId, secret, clients) => {
        const known = Object.fromEntries(clients) as Record<string, { readonly secret?: string }>;
        const client = typeof clientId === "string" ? known[clientId] : undefined;
        if (client === undefined || client.secret !== secret) return undefined;
        return clients.get(String(clientId)) ?? [...clients.values()][0];
      },
    },
    "client-unknown-passes: Authorize and exchange accept an unknown client.": (sound) => ({
      findClientToAuthorize: (id, clients) =>
        sound.findClientToAuthorize(id, clients) ?? unregistered(id, clients),
      authenticateClient: (id, secret, clients) =>
        typeof id === "string" && !clients.has(id)
          ? unregistered(id, clients)
          : sound.authenticateClient(id, secret, clients),
    }),
  },
});
