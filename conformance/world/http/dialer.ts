import { isLoopback } from "../../contract/loopback.ts";
import dns from "node:dns";
import net, { type LookupFunction } from "node:net";
import tls from "node:tls";
import { buildConnector, Client, type Dispatcher } from "undici";
import { given } from "../../contract/given.ts";
import { decoded } from "../../contract/profile-secrets.ts";
import { errorMessage } from "../../contract/text.ts";
import { withoutContinue } from "./continue.ts";

/** How to reach a service if a plain connection is not enough. Certificates are always verified. */
export interface DialSettings {
  /** Additional trusted authorities, in PEM. */
  readonly ca?: string;
  readonly clientCertificate?: {
    readonly cert: string;
    readonly key: string;
    readonly passphrase: string | undefined;
  };
  readonly proxy?: {
    /** May include user and password; never displayed. */
    readonly url: string;
    /** Hosts that are reached directly; ".example" stands for all below example. */
    readonly except: readonly string[];
  };
  /** Addresses to use instead of name resolution. */
  readonly resolve?: Readonly<Record<string, string>>;
}

/** The options of a dispatcher that opens a connection for each request. */
export const keepingNone = { pipelining: 0 };

/** Opens connections to the target and its hooks, all with the same settings. */
export type Dialer = ReturnType<typeof createDialer>;

export const createDialer = (settings: DialSettings = {}) => {
  const common = given({ secureContext: contextOf(settings), lookup: lookupIn(settings.resolve) });
  /** A tunnel to the origin, if it is reached through a proxy; rejects if the proxy refuses. */
  const tunnel = (origin: URL, timeoutMs: number): Promise<net.Socket> | undefined => {
    const proxy = proxyFor(settings, hostOf(origin));
    return proxy === undefined
      ? undefined
      : through(proxy, `${addressOf(settings, hostOf(origin))}:${portOf(origin)}`, common, timeoutMs);
  };
  return {
    tunnel,
    /** For undici's `connect` option; `timeoutMs` limits connecting. */
    connector: (timeoutMs: number): buildConnector.connector => {
      const direct = buildConnector({ ...common, allowH2: false, timeout: timeoutMs });
      return (options, passOn) => {
        const callback: buildConnector.Callback = (...[error, socket]) =>
          error === null ? passOn(null, withoutContinue(socket)) : passOn(error, null);
        const origin = new URL(`${options.protocol}//${options.host ?? options.hostname}`);
        if (options.port !== "") origin.port = options.port;
        const opening = tunnel(origin, timeoutMs);
        if (opening === undefined) return direct(options, callback);
        void (async () => {
          try {
            const httpSocket = await opening;
            if (origin.protocol === "https:") direct({ ...options, httpSocket }, callback);
            else callback(null, httpSocket);
          } catch (error) {
            callback(error as Error, null);
          }
        })();
      };
    },
    /** A connection to the origin, or over the tunnel, and the event after which it is writable, unless it already is. */
    open: (origin: URL, over?: net.Socket): { socket: net.Socket; event?: "connect" | "secureConnect" } => {
      const host = hostOf(origin);
      if (origin.protocol !== "https:")
        return over === undefined
          ? { socket: net.connect({ ...common, host, port: portOf(origin) }), event: "connect" }
          : { socket: over };
      const socket = tls.connect({
        ...common,
        ...(over === undefined ? { port: portOf(origin) } : { socket: over }),
        host,
        ALPNProtocols: ["http/1.1"],
        ...(net.isIP(host) === 0 ? { servername: host } : {}),
      });
      return { socket, event: "secureConnect" };
    },
  };
};

/** One context for all connections, because loading the platform's many authorities takes time. Adds our own to them. */
const contextOf = ({ ca, clientCertificate }: DialSettings): tls.SecureContext | undefined => {
  if (ca === undefined && clientCertificate === undefined) return undefined;
  return tls.createSecureContext(
    given({
      ca: ca === undefined ? undefined : [...tls.getCACertificates("default"), ca],
      ...clientCertificate,
    }),
  );
};

/** A tunnel through the proxy (RFC 9110 section 9.3.6), also for plain HTTP, so that nothing in between changes a byte. */
const through = async (
  proxy: URL,
  authority: string,
  connect: buildConnector.BuildOptions,
  timeoutMs: number,
): Promise<net.Socket> => {
  const client = new Client(proxy.origin, {
    connect: { ...connect, allowH2: false, timeout: timeoutMs },
    headersTimeout: timeoutMs,
  });
  const user = `${decoded(proxy.username)}:${decoded(proxy.password)}`;
  const authorization =
    user === ":" ? {} : { "proxy-authorization": `Basic ${Buffer.from(user).toString("base64")}` };
  const { statusCode, socket }: Dispatcher.ConnectData = await client
    .connect({ path: authority, headers: { host: authority, ...authorization } })
    .catch((error: unknown) => {
      void client.destroy();
      throw new ProxyFailed(`the proxy ${proxy.host} opened no tunnel: ${errorMessage(error)}`);
    });
  if (statusCode === 200) return socket as net.Socket;
  socket.destroy();
  throw new ProxyFailed(
    `the proxy ${proxy.host} answered with status ${statusCode} when asked for a tunnel to ${authority}`,
  );
};

/** The proxy failed, not the target. */
class ProxyFailed extends Error {
  override readonly name = "ProxyFailed";
  readonly code = "EPROXY";
}

const proxyFor = ({ proxy }: DialSettings, host: string): URL | undefined => {
  if (proxy === undefined || isLoopback(host)) return undefined;
  const isExcepted = proxy.except.some((one) => (one.startsWith(".") ? host.endsWith(one) : host === one));
  return isExcepted ? undefined : new URL(proxy.url);
};

const hostOf = (origin: URL): string => origin.hostname.replace(/^\[|\]$/g, "");

const portOf = (origin: URL): number => Number(origin.port || (origin.protocol === "https:" ? "443" : "80"));

const addressOf = ({ resolve = {} }: DialSettings, host: string): string => {
  const address = resolve[host] ?? host;
  return net.isIPv6(address) ? `[${address}]` : address;
};

/** The platform's resolver, except for the names listed here. */
const lookupIn = (resolve: DialSettings["resolve"] = {}): LookupFunction | undefined => {
  if (Object.keys(resolve).length === 0) return undefined;
  return (host, options, done) => {
    const address = resolve[host];
    if (address === undefined) return dns.lookup(host, options, done);
    const family = net.isIP(address);
    if (options.all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
};
