import { isLoopback } from "../../contract/loopback.ts";
import dns from "node:dns";
import net, { type LookupFunction } from "node:net";
import tls from "node:tls";
import { buildConnector, Client, type Dispatcher } from "undici";
import { decoded } from "../../contract/profile-secrets.ts";
import { errorMessage } from "../../contract/text.ts";

/** How a service is reached where a plain connection does not do. Certificates are always verified. */
export interface DialSettings {
  /** Authorities that are trusted besides the platform's own, in PEM. */
  readonly ca?: string;
  readonly clientCertificate?: {
    readonly cert: string;
    readonly key: string;
    readonly passphrase: string | undefined;
  };
  readonly proxy?: {
    /** With user and password where it asks for them; never shown. */
    readonly url: string;
    /** Hosts that are reached directly; ".example" stands for all below example. */
    readonly except: readonly string[];
  };
  /** Addresses in the place of those that names resolve to. */
  readonly resolve?: Readonly<Record<string, string>>;
}

/** Opens connections, all by the same settings, to the target and to its hooks. */
export interface Dialer {
  /** For undici's `connect` option; `timeoutMs` bounds the way to a connection. */
  connector(timeoutMs: number): buildConnector.connector;
  /** A tunnel to the origin where a proxy stands before it; rejects where the proxy gives none. */
  tunnel(origin: URL, timeoutMs: number): Promise<net.Socket> | undefined;
  /** A connection to the origin, or over the tunnel; what it emits once it can be written to, unless it can already. */
  open(origin: URL, tunnel?: net.Socket): { socket: net.Socket; event?: "connect" | "secureConnect" };
}

export const createDialer = (settings: DialSettings = {}): Dialer => {
  const secureContext = contextOf(settings);
  const lookup = lookupIn(settings.resolve);
  const common = {
    ...(secureContext === undefined ? {} : { secureContext }),
    ...(lookup === undefined ? {} : { lookup }),
  };
  const tunnel: Dialer["tunnel"] = (origin, timeoutMs) => {
    const proxy = proxyFor(settings, hostOf(origin));
    return proxy === undefined
      ? undefined
      : through(proxy, `${addressOf(settings, hostOf(origin))}:${portOf(origin)}`, common, timeoutMs);
  };
  return {
    tunnel,
    connector: (timeoutMs) => {
      const direct = buildConnector({ ...common, allowH2: false, timeout: timeoutMs });
      return (options, callback) => {
        const origin = new URL(`${options.protocol}//${options.host ?? options.hostname}`);
        if (options.port !== "") origin.port = options.port;
        const opening = tunnel(origin, timeoutMs);
        if (opening === undefined) return direct(options, callback);
        void hand(opening, callback, (socket) => {
          if (origin.protocol === "https:") direct({ ...options, httpSocket: socket }, callback);
          else callback(null, socket);
        });
      };
    },
    open: (origin, over) => {
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

/** Takes a tunnel on once it is there, or tells undici why there is none. */
const hand = async (
  opening: Promise<net.Socket>,
  callback: buildConnector.Callback,
  take: (socket: net.Socket) => void,
): Promise<void> => {
  let socket: net.Socket;
  try {
    socket = await opening;
  } catch (error) {
    callback(error as Error, null);
    return;
  }
  take(socket);
};

/** One for all connections: the platform's authorities are many, and reading them takes time. One's own are added to them. */
const contextOf = ({ ca, clientCertificate }: DialSettings): tls.SecureContext | undefined => {
  if (ca === undefined && clientCertificate === undefined) return undefined;
  const { cert, key, passphrase } = clientCertificate ?? {};
  return tls.createSecureContext({
    ...(ca === undefined ? {} : { ca: [...tls.getCACertificates("default"), ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(passphrase === undefined ? {} : { passphrase }),
  });
};

/** A tunnel through the proxy (RFC 9110 section 9.3.6), for plain targets too: nothing on the way then touches a byte. */
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
      throw new ProxyFailed(`the proxy ${proxy.host} gave no tunnel: ${errorMessage(error)}`);
    });
  if (statusCode === 200) return socket as net.Socket;
  socket.destroy();
  throw new ProxyFailed(
    `the proxy ${proxy.host} answered with status ${statusCode} when asked for a tunnel to ${authority}`,
  );
};

/** The way to the target is at fault, not the target. */
class ProxyFailed extends Error {
  readonly code = "EPROXY";
  constructor(message: string) {
    super(message);
    this.name = "ProxyFailed";
  }
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

/** The platform's own resolver, but for the names that have an address here. */
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
