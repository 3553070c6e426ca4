import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { ReceiverClock, Stamp } from "./clock.ts";
import type { LostConnection, ReportFault } from "./event-log.ts";
import type { IncomingMessage } from "node:http";
import type { LostStage, Push } from "../../conformance/contract/push.ts";

/** Bounds of what a sender can cost the receiver. */
export const receiverLimits = {
  connections: 2_000,
  headerBytes: 65_536,
  bodyBytes: 8 * 1_048_576,
  /** Bodies being received, over all connections. */
  bodiesBytes: 64 * 1_048_576,
  /**
   * From the first byte to the end of the header, and from the connection to the end of a handshake, which takes a
   * starved machine over ten seconds: a sender whose push the receiver gives up counts an attempt that nobody sees.
   */
  headersMs: 30_000,
  /** From the connection to its first byte: senders keep connections for later use. */
  unusedMs: 120_000,
  /** From the first byte to the end of the body. */
  requestMs: 30_000,
  /**
   * A connection between two requests. Longer than any delay of the schedule: closing a connection just as a retry is
   * sent on it would be an unplanned failure.
   */
  keepAliveMs: 20 * 60_000,
  /** How long a sender may take to close a connection that the receiver has closed, before it is destroyed. */
  leavingMs: 1_000,
};

export type ReceiverLimits = Readonly<typeof receiverLimits>;

interface Registry {
  readonly clock: ReceiverClock;
  readonly reportFault: ReportFault;
  readonly most: number;
  readonly links: Map<Socket, Link>;
  /** Connections between requests, longest idle first: these are closed when there are too many. */
  readonly idle: Set<Link>;
  readonly byPeer: Map<string, Link>;
  readonly bySocket: WeakMap<Socket, Link>;
  lastId: number;
}

export type Connections = ReturnType<typeof createConnections>;

export const createConnections = (
  clock: ReceiverClock,
  reportFault: ReportFault,
  { connections: most, leavingMs }: Pick<ReceiverLimits, "connections" | "leavingMs">,
) => {
  const [links, idle, byPeer] = [new Map<Socket, Link>(), new Set<Link>(), new Map<string, Link>()];
  const bySocket = new WeakMap<Socket, Link>();
  const registry: Registry = { clock, reportFault, most, links, idle, byPeer, bySocket, lastId: 0 };
  return {
    /** Accepts a TCP connection, or refuses it. */
    opened: (raw: Socket): void => open(registry, raw),
    /** Id of the last connection accepted; 0 before the first. */
    lastId: () => registry.lastId,
    secured: (socket: TLSSocket): void => secure(registry, socket),
    /** For a listener without TLS. */
    plain: (raw: Socket): void => {
      const link = links.get(raw);
      if (link !== undefined) use(registry, link, raw);
    },
    of: (socket: Socket) => bySocket.get(socket),
    /** The report on a connection on which no push could be read; undefined if already reported. */
    lost: (socket: Socket, sinceMs?: number): LostConnection | undefined => {
      const link = bySocket.get(socket);
      return link === undefined ? undefined : lostWith(link, sinceMs ?? link.first?.ms ?? link.openedMs);
    },
    /** Closes a connection that is still unused after this many milliseconds; false if it has been used. */
    endUnused: (socket: Socket, afterMs: number): boolean => {
      const isUnused = (): boolean => bySocket.get(socket)?.spoken === false;
      if (!isUnused()) return false;
      const end = (): void => void (isUnused() && socket.destroySoon());
      if (afterMs <= 0) end();
      else socket.once("close", clock.after(afterMs, end));
      return true;
    },
    /** Why a handshake failed; reported when the connection is gone. */
    failed: (socket: Socket, why: HandshakeFailure): void => {
      const link = byPeer.get(peerOf(socket));
      if (link !== undefined) link.failure = why;
    },
    begin: (link: Link): void => {
      link.busy += 1;
      link.requests += 1;
      idle.delete(link);
    },
    end: (link: Link): void => {
      link.busy -= 1;
      if (link.busy === 0 && links.has(link.raw)) idle.add(link);
    },
    /**
     * Closes connections between two requests, and the others after their answer. Resolves when the senders of the
     * former have closed them as well: until then they may still send a push on them, which would meet a closed
     * connection rather than what new connections meet.
     */
    retire: (): Promise<void> => retire(registry, leavingMs),
    /** Resolves when all are gone. */
    destroyAll: async (): Promise<void> => {
      await Promise.all([...links.keys()].map(destroyed));
    },
  };
};

const retire = async ({ links, clock }: Registry, leavingMs: number): Promise<void> => {
  const all = [...links.values()];
  for (const link of all) link.retired = true;
  await Promise.all(all.filter(({ busy }) => busy === 0).map((link) => left(link, clock, leavingMs)));
};

const left = async ({ raw, socket }: Link, clock: ReceiverClock, mostMs: number): Promise<void> => {
  const gone = new Promise((resolve) => raw.once("close", resolve));
  const forget = clock.after(mostMs, () => raw.destroy());
  if (socket === undefined) raw.destroy();
  else socket.end();
  await gone;
  forget();
};

const destroyed = async (raw: Socket): Promise<void> => {
  raw.destroy();
  await new Promise((resolve) => raw.once("close", resolve));
};

const open = (registry: Registry, raw: Socket): void => {
  const { remotePort } = raw;
  if (remotePort === undefined || !makeRoom(registry, raw.remoteAddress)) {
    raw.destroy();
    return;
  }
  registry.lastId += 1;
  const link = newLink(registry.lastId, raw, remotePort, registry.clock.stamp());
  registry.links.set(raw, link);
  registry.idle.add(link);
  registry.byPeer.set(link.peer, link);
  raw.setNoDelay(true);
  // An error ends the connection, and the end is reported.
  raw.on("error", () => undefined);
  raw.once("close", () => {
    drop(registry, link);
    reportGone(registry.reportFault, link);
  });
};

const drop = ({ links, idle, byPeer }: Registry, link: Link): void => {
  links.delete(link.raw);
  idle.delete(link);
  if (byPeer.get(link.peer) === link) byPeer.delete(link.peer);
};

const secure = (registry: Registry, socket: TLSSocket): void => {
  const link = registry.byPeer.get(peerOf(socket));
  if (link === undefined) {
    socket.destroy();
    return;
  }
  const { servername } = socket;
  link.tls = {
    protocol: socket.getProtocol() ?? "unknown",
    cipher: socket.getCipher().name,
    ...(typeof servername === "string" ? { servername } : {}),
  };
  use(registry, link, socket);
};

const use = ({ bySocket, clock }: Registry, link: Link, socket: Socket): void => {
  bySocket.set(socket, link);
  stampBytes(link, socket, clock);
};

/** With too many connections, closes the one idle longest. False if all are busy. */
const makeRoom = (registry: Registry, address: string | undefined): boolean => {
  const { clock, reportFault, most, links, idle } = registry;
  if (links.size < most) return true;
  const turnedAway = (openedMs: number, from: string | undefined): LostConnection => ({
    stage: "turned-away",
    address: from,
    openedMs,
  });
  const [oldest] = idle;
  if (oldest === undefined) {
    const message = `connection refused: all ${most} accepted connections are busy`;
    reportFault("connections refused", message, turnedAway(clock.nowMs(), address));
    return false;
  }
  reportFault(
    "idle connections closed",
    `idle connection ${oldest.id} closed: more than ${most} connections`,
    oldest.requests > 0 ? undefined : turnedAway(oldest.openedMs, oldest.address),
  );
  oldest.reported = true;
  drop(registry, oldest);
  oldest.raw.destroy();
  return true;
};

/** Reports a connection that ended before or within a request, unless already reported. */
const reportGone = (reportFault: ReportFault, link: Link): void => {
  const { id, remotePort, requests, first } = link;
  if (link.socket === undefined) {
    const lost = lostWith(link, link.openedMs);
    const reason = link.failure?.reason ?? "ECONNRESET";
    if (lost !== undefined) reportFault("failed TLS handshakes", `TLS handshake failed: ${reason}`, lost);
  } else if (requests === 0 || first !== undefined) {
    const lost = lostWith(link, first?.ms ?? link.openedMs);
    const further = requests === 0 ? "" : "further ";
    const message = `connection ${id} from port ${remotePort} was closed without a ${further}request`;
    if (lost !== undefined) reportFault("connections closed without a request", message, lost);
  }
};

interface HandshakeFailure {
  readonly reason: string;
  /** Whether the received bytes were TLS, as far as they went. */
  readonly isTls: boolean;
}

const peerOf = (socket: Socket): string => `${socket.remoteAddress}:${socket.remotePort}`;

interface LinkState {
  /** The socket on which HTTP is spoken. */
  socket?: Socket;
  tls?: Push["connection"]["tls"];
  /** When the request being read began; undefined between two requests. */
  first?: Stamp | undefined;
  reading?: IncomingMessage;
  failure?: HandshakeFailure;
  /** When the newest bytes arrived. */
  newest: Stamp;
}

export type Link = ReturnType<typeof newLink>;

const newLink = (id: number, raw: Socket, remotePort: number, opened: Stamp) => {
  const state: LinkState = { newest: opened };
  return Object.assign(state, {
    id,
    remotePort,
    address: raw.remoteAddress,
    /** Address and port, which map a TCP socket to its TLS socket. */
    peer: peerOf(raw),
    openedMs: opened.ms,
    /** The TCP socket, below TLS if there is TLS. */
    raw,
    requests: 0,
    /** Requests that have begun and not ended. */
    busy: 0,
    /** Whether bytes of a request have arrived, above TCP and TLS. */
    spoken: false,
    /** Whether it must close after the answer because the listener was closed or now shows another certificate. */
    retired: false,
    reported: false,
  });
};

/** Stamps the bytes of a connection before the parser reads them: this listener precedes the parser's own. */
const stampBytes = (link: Link, socket: Socket, clock: ReceiverClock): void => {
  link.socket = socket;
  socket.prependListener("data", (chunk: Buffer) => {
    const stamp = clock.stamp();
    if ((link.reading?.complete ?? true) && link.first === undefined && !isEmptyLine(chunk)) {
      // A pipelining sender may have sent the first bytes along with the previous ones.
      const waitedMs = link.busy > 0 ? stamp.ms - link.newest.ms : 0;
      link.first = { ms: stamp.ms, uncertaintyMs: stamp.uncertaintyMs + waitedMs };
    }
    link.newest = stamp;
    link.spoken = true;
  });
};

/** RFC 9112, section 2.2: an empty line before a request is to be ignored. Some senders send one after a body. */
const isEmptyLine = (chunk: Buffer): boolean => chunk.every((byte) => byte === CR || byte === LF);
const [LF, CR] = [10, 13];

/**
 * The report on a connection on which no push could be read; undefined if already reported. `sinceMs` is when the
 * unread request began.
 */
const lostWith = (link: Link, sinceMs: number): LostConnection | undefined => {
  if (link.reported) return undefined;
  link.reported = true;
  return { stage: stageOf(link), address: link.address, openedMs: sinceMs };
};

const stageOf = ({ spoken, raw, socket, failure }: Link): LostStage => {
  if (spoken) return "request";
  if (raw.bytesRead === 0) return "silent";
  if (socket !== undefined) return "no-request";
  return failure?.isTls === false ? "not-tls" : "handshake";
};
