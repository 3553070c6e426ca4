import { isObject } from "../conformance/contract/json.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";

/** A client known to the service (how it got its credentials is not shown, section 5.4). */
export interface FakeClient {
  readonly id: string;
  readonly secret: string;
  /** The registered callback address. A request may add any query: scheme, host, port and path must match. */
  readonly redirectUri: string;
}

/**
 * The default clients. The second one's address has a port, a non-ASCII host and a query, to show that such an address
 * is handled completely.
 */
export const defaultClients: readonly FakeClient[] = [
  {
    id: "Tc4Q9mLw7ZbX2kRn8Vfy",
    secret: "s3CrXp7WqLz9TnBvK2mYhD5gRjEa8UfQ",
    redirectUri: "https://client.example/callback",
  },
  {
    id: "Hd6Yp2NsJ8gUe5WcAo3t",
    secret: "k9VzQb4RtMx6PwLnF8sGyJ3dHuCe7AoT",
    redirectUri: "https://bücher.example:8443/konto/rückruf?tenant=2",
  },
];

/** An unregistered client, for a service that does not check: registered like the first one. */
export const unregistered = (
  id: string | undefined,
  clients: ReadonlyMap<string, FakeClient>,
): FakeClient | undefined => {
  const [first] = clients.values();
  return id === undefined || first === undefined ? undefined : { ...first, id };
};

const FIELDS = ["id", "secret", "redirectUri"] as const;

/** Parses clients from untrusted data (a parsed clients file). Throws ConfigurationError naming the first problem. */
export const parseClients = (data: unknown): readonly FakeClient[] => {
  if (!Array.isArray(data) || data.length === 0)
    throw new ConfigurationError(
      "clients: expected a JSON array of at least one { id, secret, redirectUri }",
    );
  const clients = data.map(parseClient);
  const ids = clients.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new ConfigurationError(`clients: the id "${twice}" occurs twice`);
  return clients;
};

const parseClient = (data: unknown, index: number): FakeClient => {
  if (!isObject(data))
    throw new ConfigurationError(`clients[${index}]: expected an object { id, secret, redirectUri }`);
  const unknown = Object.keys(data).find((key) => !FIELDS.some((field) => field === key));
  if (unknown !== undefined)
    throw new ConfigurationError(`clients[${index}].${unknown}: unknown key; known are ${FIELDS.join(", ")}`);
  const client = {
    id: textOf(data["id"], `clients[${index}].id`),
    secret: textOf(data["secret"], `clients[${index}].secret`),
    redirectUri: textOf(data["redirectUri"], `clients[${index}].redirectUri`),
  };
  if (!URL.canParse(client.redirectUri))
    throw new ConfigurationError(`clients[${index}].redirectUri: expected an absolute URL`);
  return client;
};

const textOf = (value: unknown, where: string): string => {
  if (typeof value !== "string" || value === "")
    throw new ConfigurationError(`${where}: expected a non-empty string`);
  return value;
};
