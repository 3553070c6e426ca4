import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Certificate } from "./certificate.ts";
import type { Connections } from "./connections.ts";
import type { Faults } from "./faults.ts";
import type { ReceiverLimits } from "./limits.ts";
import { PortInUse, reasonOf } from "./problems.ts";

/** The receiver's listening socket. */
export interface Listener {
  readonly port: () => number;
  readonly listening: () => boolean;
  /** Listens; on the same port as before where it did. Rejects with PortInUse. */
  readonly open: () => Promise<void>;
  /** Stops listening: whoever connects from now on is refused. Connections stay. */
  readonly close: () => void;
  /** Shows another certificate to new connections. */
  readonly show: (certificate: Certificate) => void;
}

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** HTTPS with it, HTTP without. */
  readonly certificate: Certificate | undefined;
  readonly limits: ReceiverLimits;
  readonly connections: Connections;
  readonly faults: Faults;
  readonly onRequest: RequestListener;
}

/** How often Node looks for requests that take too long. */
const CHECK_MS = 1_000;

const BACKLOG = 4_096;

export const createListener = (options: ListenerOptions): Listener => {
  const { host, certificate, limits, connections, faults } = options;
  const http: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: Math.min(limits.headersMs, limits.requestMs),
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, limits.headersMs),
    // A push without a Host header is the sender's fault to be shown, not to be turned away.
    requireHostHeader: false,
  };
  const server: Server | TlsServer =
    certificate === undefined
      ? createServer(http, options.onRequest)
      : createTlsServer(
          {
            ...http,
            cert: certificate.certPem,
            key: certificate.keyPem,
            handshakeTimeout: limits.headersMs,
            ALPNProtocols: ["http/1.1"],
          },
          options.onRequest,
        );
  server.maxHeadersCount = 0;
  server.on("connection", connections.opened);
  if ("setSecureContext" in server) {
    server.on("secureConnection", connections.secured);
    server.on("tlsClientError", (error: Error & { code?: string }, socket) => {
      connections.failed(socket, { reason: tlsReason(error), isTls: !noTls.has(error.code ?? "") });
      socket.destroy();
    });
  } else server.on("connection", connections.plain);
  server.on("clientError", (error: Error & { code?: string }, socket) => {
    // Whoever has asked for nothing gets no answer, and more time.
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && connections.isUnused(socket as Socket))
      connections.endUnused(socket as Socket, limits.unusedMs - limits.headersMs);
    else refuse(error, socket as Socket, faults, connections);
  });
  server.on("error", () => undefined);
  let port = options.port;

  return {
    port: () => port,
    listening: () => server.listening,
    open: async () => {
      if (server.listening) return;
      await listen(server, host, port);
      port = (server.address() as AddressInfo).port;
    },
    close: () => {
      if (server.listening) server.close();
    },
    show: ({ certPem, keyPem }) => {
      if ("setSecureContext" in server) server.setSecureContext({ cert: certPem, key: keyPem });
    },
  };
};

const listen = (server: Server | TlsServer, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const failed = (error: Error & { code?: string }): void => {
      server.off("listening", listening);
      reject(error.code === "EADDRINUSE" ? new PortInUse(port) : error);
    };
    const listening = (): void => {
      server.off("error", failed);
      resolve();
    };
    server.once("error", failed);
    server.once("listening", listening);
    server.listen({ host, port, backlog: BACKLOG });
  });

/** OpenSSL's own words, without its file names. */
const tlsReason = (error: Error & { reason?: string; code?: string }): string =>
  error.reason ?? error.code ?? error.message;

/** What OpenSSL says of first bytes that no TLS begins with. */
const noTls: ReadonlySet<string> = new Set([
  "ERR_SSL_HTTP_REQUEST",
  "ERR_SSL_HTTPS_PROXY_REQUEST",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
]);

const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Content Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** What is no HTTP, too long or too slow costs the sender its connection, and the receiver a line. */
const refuse = (
  error: Error & { code?: string },
  socket: Socket,
  faults: Faults,
  connections: Connections,
): void => {
  const code = error.code ?? "";
  // What fails before HTTP is spoken has been told to the connections.
  if (connections.of(socket) === undefined) {
    socket.destroy();
    return;
  }
  if (code.startsWith("HPE_") || code === "ERR_HTTP_REQUEST_TIMEOUT") {
    const status = statuses[code] ?? "400 Bad Request";
    const port = socket.remotePort === undefined ? "" : ` from port ${socket.remotePort}`;
    faults.tell(
      `requests refused (${code})`,
      `request${port} refused with ${status} (${reasonOf(error)}: ${error.message})`,
      connections.lost(socket),
    );
    if (socket.writable && socket.bytesWritten === 0)
      socket.write(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    socket.destroySoon();
    return;
  }
  if (code !== "ECONNRESET" && code !== "EPIPE")
    faults.tell(
      `connections broken (${code})`,
      `connection broken by the sender: ${tlsReason(error)}`,
      connections.lost(socket),
    );
  socket.destroy();
};
