import { isLoopback, errorMessage } from "../../contract/text.ts";
import dns from "node:dns";
import net, { type LookupFunction } from "node:net";
import tls from "node:tls";
import { buildConnector, Client, type Dispatcher } from "undici";
import { given } from "../../contract/given.ts";
import { decoded, type ClientCertificate } from "../../contract/profile-fetched.ts";

/** How to reach a service if a plain connection is not enough. Certificates are always verified. */
export interface DialSettings {
  /** Additional trusted authorities, in PEM. */
  readonly ca?: string;
  readonly clientCertificate?: ClientCertificate;
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
  const common = {
    ...given({ secureContext: contextOf(settings), lookup: lookupIn(settings.resolve) }),
    // Said aloud, or NODE_TLS_REJECT_UNAUTHORIZED would decide.
    rejectUnauthorized: true,
  };
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

/** The head of a `100 Continue`, and any beginning of one. */
const WHOLE = /^HTTP\/1\.[01] 100(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/;
const LINE = "HTTP/1.1 100";
/** Longer heads are left to the client, which refuses them. */
const MOST_BYTES = 16 * 1024;

/**
 * Takes `100 Continue` out of what a client reads from this connection. A server may send it unasked, and a client must
 * be able to read it (RFC 9110 section 15.2), but undici closes the connection; it reads past other interim answers. An
 * answer begins with the first bytes after a request was written, since requests are not pipelined.
 */
const withoutContinue = <S extends net.Socket>(socket: S): S => {
  const write = socket.write.bind(socket);
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let isAtStart = false;
  let held: Buffer = Buffer.alloc(0);
  socket.write = ((...parameters: Parameters<typeof write>) => {
    isAtStart = true;
    return write(...parameters);
  }) as typeof write;
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size);
      if (chunk === null || !isAtStart) return chunk;
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      held = held.subarray(continueBytes(held));
      if (held.length === 0 || isBeginning(held)) continue;
      const rest = held;
      isAtStart = false;
      held = Buffer.alloc(0);
      return rest;
    }
  };
  return socket;
};

/** The length of all `100 Continue` at the beginning of these bytes. */
const continueBytes = (bytes: Buffer): number => {
  if (!startsAs100(bytes)) return 0;
  const [head] = WHOLE.exec(bytes.toString("latin1", 0, MOST_BYTES)) ?? [];
  return head === undefined ? 0 : head.length + continueBytes(bytes.subarray(head.length));
};

/** Whether these bytes may be the beginning of one that is not complete yet. */
const isBeginning = (bytes: Buffer): boolean => bytes.length < MOST_BYTES && startsAs100(bytes);

/** Whether the bytes so far agree with the first line of a `100 Continue`. */
const startsAs100 = (bytes: Buffer): boolean => {
  const start = bytes.toString("latin1", 0, LINE.length).replace("HTTP/1.0", "HTTP/1.1");
  return LINE.startsWith(start);
};
