import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { Server as NetServer, type AddressInfo, type Socket } from "node:net";
import { listenOn } from "../serving.ts";
import type { Connections, ReceiverLimits } from "./connections.ts";
import type { ReportFault } from "./event-log.ts";
import type { Certificate } from "./certificate.ts";
import { listenError } from "../../conformance/contract/problem.ts";
import { reasonOf } from "../../conformance/contract/files.ts";

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** HTTPS if given, otherwise HTTP. */
  readonly certificate: Certificate | undefined;
  readonly limits: ReceiverLimits;
  readonly connections: Connections;
  readonly reportFault: ReportFault;
  readonly onRequest: RequestListener;
}

type WireError = Error & { readonly code?: string; readonly reason?: string };

/** How often Node checks for slow requests. */
const CHECK_MS = 1_000;

const BACKLOG = 4_096;

export type Listener = ReturnType<typeof createListener>;

export const createListener = (options: ListenerOptions) => {
  const server = serverFor(options);
  watch(server, options);
  let port = options.port;
  let wasOpen = false;
  return {
    port: () => port,
    listening: () => server.listening,
    /** Listens, on the previous port if there was one. Rejects with ConfigurationError. */
    open: async (): Promise<void> => {
      if (server.listening) return;
      await listenOn(server, { host: options.host, port, backlog: BACKLOG }, wasOpen).catch(
        (error: unknown) => {
          throw listenError(error, options.host, port);
        },
      );
      wasOpen = true;
      port = (server.address() as AddressInfo).port;
    },
    /** Stops listening: new connections are refused. Open ones stay. */
    close: (): void => {
      // Closing an HTTP server cuts connections between two requests before their senders know.
      if (server.listening) NetServer.prototype.close.call(server);
    },
    /** Shows another certificate to new connections. */
    show: ({ certPem, keyPem }: Certificate): void => {
      if ("setSecureContext" in server) server.setSecureContext({ cert: certPem, key: keyPem });
    },
  };
};

const serverFor = ({ certificate, limits, onRequest }: ListenerOptions): Server | TlsServer => {
  const http: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: Math.min(limits.headersMs, limits.requestMs),
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, limits.headersMs),
    // A push without a Host header is recorded like any other, to show the fault.
    requireHostHeader: false,
  };
  if (certificate === undefined) return createServer(http, onRequest);
  const tls = { cert: certificate.certPem, key: certificate.keyPem, ALPNProtocols: ["http/1.1"] };
  return createTlsServer({ ...http, ...tls, handshakeTimeout: limits.headersMs }, onRequest);
};

const watch = (server: Server | TlsServer, { connections, limits, reportFault }: ListenerOptions): void => {
  server.maxHeadersCount = 0;
  server.on("connection", connections.opened);
  if ("setSecureContext" in server) {
    server.on("secureConnection", connections.secured);
    server.on("tlsClientError", (error: WireError, socket) => {
      connections.failed(socket, { reason: tlsReason(error), isTls: !noTls.has(error.code ?? "") });
      socket.destroy();
    });
  } else server.on("connection", connections.plain);
  server.on("clientError", (error: WireError, duplex) => {
    const socket = duplex as Socket;
    // A connection without a request gets more time and no answer.
    const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    if (!isLate || !connections.endUnused(socket, limits.unusedMs - limits.headersMs))
      refuse(error, socket, reportFault, connections);
  });
  server.on("error", () => undefined);
};

/** OpenSSL's own words, without its file names. */
const tlsReason = (error: WireError): string => error.reason ?? error.code ?? error.message;

/** OpenSSL's reasons for first bytes that cannot be TLS. */
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

/** Answers invalid HTTP, or oversized or slow requests, with an error, closes the connection, and records a fault. */
const refuse = (
  error: WireError,
  socket: Socket,
  reportFault: ReportFault,
  connections: Connections,
): void => {
  const code = error.code ?? "";
  // Failed handshakes are reported by the connections.
  if (connections.of(socket) === undefined) {
    socket.destroy();
    return;
  }
  if (code.startsWith("HPE_") || code === "ERR_HTTP_REQUEST_TIMEOUT") {
    const status = statuses[code] ?? "400 Bad Request";
    const port = socket.remotePort === undefined ? "" : ` from port ${socket.remotePort}`;
    const message = `request${port} refused with ${status} (${reasonOf(error)}: ${error.message})`;
    reportFault(`requests refused (${code})`, message, connections.lost(socket));
    if (socket.writable && socket.bytesWritten === 0)
      socket.write(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    socket.destroySoon();
    return;
  }
  if (code !== "ECONNRESET" && code !== "EPIPE") {
    const message = `connection broken by the sender: ${tlsReason(error)}`;
    reportFault(`connections broken (${code})`, message, connections.lost(socket));
  }
  socket.destroy();
};
