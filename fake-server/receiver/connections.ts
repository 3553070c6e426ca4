import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { LostStage, Push } from "../../conformance/contract/push.ts";
import type { ReceiverClock, Stamp } from "./clock.ts";
import type { Faults, LostConnection } from "./faults.ts";

/** One connection of a sender. */
export interface Link {
  readonly id: number;
  readonly remotePort: number;
  readonly address: string | undefined;
  readonly openedMs: number;
  /** The TCP socket, below TLS where there is TLS. */
  readonly raw: Socket;
  /** What HTTP is spoken on. */
  socket: Socket | undefined;
  tls: Push["connection"]["tls"];
  requests: number;
  /** Requests that have begun and are not yet at their end. */
  busy: number;
  /** When the request that is being read began; undefined between two requests. */
  first: Stamp | undefined;
  /** Whether bytes of a request have come, on whatever stands above TCP. */
  spoken: boolean;
  /** When the newest bytes came. */
  newest: Stamp;
  reading: IncomingMessage | undefined;
  /** Whether it has to close after the answer: the listener was closed, or shows another certificate now. */
  retired: boolean;
  failure: HandshakeFailure | undefined;
  /** Whether it has been told that no push could be read from it. */
  told: boolean;
}

export interface HandshakeFailure {
  readonly reason: string;
  /** Whether what came was TLS, as far as it went. */
  readonly isTls: boolean;
}

export interface Connections {
  readonly opened: (raw: Socket) => void;
  readonly secured: (socket: TLSSocket) => void;
  /** For a listener without TLS. */
  readonly plain: (raw: Socket) => void;
  readonly of: (socket: Socket) => Link | undefined;
  /** What a connection is lost with, once: undefined where it has been told. `sinceMs` is when the request began that was not read. */
  readonly lost: (socket: Socket, sinceMs?: number) => LostConnection | undefined;
  /** Whether nothing was ever sent on it, but for a handshake. */
  readonly isUnused: (socket: Socket) => boolean;
  /** Closes a connection that is still unused after so many milliseconds. */
  readonly endUnused: (socket: Socket, afterMs: number) => void;
  /** Why the handshake of a connection fails, which is told once the connection is gone. */
  readonly failed: (socket: Socket, why: HandshakeFailure) => void;
  /** Marks a request of the link as begun or ended. */
  readonly begin: (link: Link) => void;
  readonly end: (link: Link) => void;
  /** Closes those that are between two requests, and the others after their answer. */
  readonly retire: () => void;
  /** Fulfilled when all of them are gone. */
  readonly destroyAll: () => Promise<void>;
}

const peerOf = (socket: Socket): string => `${socket.remoteAddress}:${socket.remotePort}`;

const stageOf = ({ spoken, raw, socket, failure }: Link): LostStage => {
  if (spoken) return "request";
  if (raw.bytesRead === 0) return "silent";
  if (socket !== undefined) return "no-request";
  return failure?.isTls === false ? "not-tls" : "handshake";
};

/** Keeps account of connections: stamps their bytes before the parser sees them, and keeps them few. */
export const createConnections = (clock: ReceiverClock, faults: Faults, most: number): Connections => {
  const links = new Map<Socket, Link>();
  /** Those with nothing to lose, the longest idle first: they make room when there are too many. */
  const idle = new Set<Link>();
  const byPeer = new Map<string, Link>();
  const bySocket = new WeakMap<Socket, Link>();
  let ids = 0;

  const makeRoom = (address: string | undefined): boolean => {
    if (links.size < most) return true;
    const turnedAway = (openedMs: number, from: string | undefined): LostConnection => ({
      stage: "turned-away",
      address: from,
      openedMs,
    });
    const [oldest] = idle;
    if (oldest === undefined) {
      faults.tell(
        "connections refused",
        `connection refused: all ${most} that are accepted are busy`,
        turnedAway(clock.nowMs(), address),
      );
      return false;
    }
    faults.tell(
      "idle connections closed",
      `idle connection ${oldest.id} closed: more than ${most} connections`,
      oldest.requests > 0 ? undefined : turnedAway(oldest.openedMs, oldest.address),
    );
    oldest.told = true;
    drop(oldest);
    oldest.raw.destroy();
    return true;
  };

  const drop = (link: Link): void => {
    links.delete(link.raw);
    idle.delete(link);
    byPeer.delete(peerOf(link.raw));
  };

  const gone = (link: Link, peer: string): void => {
    links.delete(link.raw);
    idle.delete(link);
    if (byPeer.get(peer) === link) byPeer.delete(peer);
    if (link.socket === undefined) {
      const lost = lostWith(link, link.openedMs);
      if (lost !== undefined)
        faults.tell(
          "TLS handshakes that failed",
          `TLS handshake failed: ${link.failure?.reason ?? "ECONNRESET"}`,
          lost,
        );
    } else if (link.requests === 0 || link.first !== undefined) {
      const lost = lostWith(link, link.first?.ms ?? link.openedMs);
      if (lost !== undefined)
        faults.tell(
          "connections closed without a request",
          `connection ${link.id} from port ${link.remotePort} was closed without a ${link.requests === 0 ? "" : "further "}request`,
          lost,
        );
    }
  };

  const lostWith = (link: Link, openedMs: number): LostConnection | undefined => {
    if (link.told) return undefined;
    link.told = true;
    return { stage: stageOf(link), address: link.address, openedMs };
  };

  /** The stamp is taken before the parser reads the bytes, for this listener stands before its own. */
  const watch = (link: Link, socket: Socket): void => {
    link.socket = socket;
    bySocket.set(socket, link);
    socket.prependListener("data", () => {
      const stamp = clock.stamp();
      const complete = link.reading?.complete ?? true;
      if (complete && link.first === undefined) {
        // A sender that does not wait for answers may have sent the first bytes along with the last ones.
        const waitedMs = link.busy > 0 ? stamp.ms - link.newest.ms : 0;
        link.first = { ms: stamp.ms, uncertaintyMs: stamp.uncertaintyMs + waitedMs };
      }
      link.newest = stamp;
      link.spoken = true;
    });
  };

  return {
    opened: (raw) => {
      const { remotePort } = raw;
      if (remotePort === undefined || !makeRoom(raw.remoteAddress)) {
        raw.destroy();
        return;
      }
      ids += 1;
      const newest = clock.stamp();
      const link: Link = {
        id: ids,
        remotePort,
        address: raw.remoteAddress,
        openedMs: newest.ms,
        raw,
        socket: undefined,
        tls: undefined,
        requests: 0,
        busy: 0,
        first: undefined,
        spoken: false,
        newest,
        reading: undefined,
        retired: false,
        failure: undefined,
        told: false,
      };
      const peer = peerOf(raw);
      links.set(raw, link);
      idle.add(link);
      byPeer.set(peer, link);
      raw.setNoDelay(true);
      // An error of a connection ends it, and its end is told of.
      raw.on("error", () => undefined);
      raw.once("close", () => gone(link, peer));
    },
    secured: (socket) => {
      const link = byPeer.get(peerOf(socket));
      if (link === undefined) {
        socket.destroy();
        return;
      }
      const servername = socket.servername;
      link.tls = {
        protocol: socket.getProtocol() ?? "unknown",
        cipher: socket.getCipher().name,
        ...(typeof servername === "string" ? { servername } : {}),
      };
      watch(link, socket);
    },
    plain: (raw) => {
      const link = links.get(raw);
      if (link !== undefined) watch(link, raw);
    },
    of: (socket) => bySocket.get(socket),
    lost: (socket, sinceMs) => {
      const link = bySocket.get(socket);
      return link === undefined ? undefined : lostWith(link, sinceMs ?? link.first?.ms ?? link.openedMs);
    },
    isUnused: (socket) => bySocket.get(socket)?.spoken === false,
    endUnused: (socket, afterMs) => {
      const link = bySocket.get(socket);
      const end = (): void => {
        if (link?.spoken === false) socket.destroySoon();
      };
      if (afterMs <= 0) end();
      else socket.once("close", clock.after(afterMs, end));
    },
    failed: (socket, why) => {
      const link = byPeer.get(peerOf(socket));
      if (link !== undefined) link.failure = why;
    },
    begin: (link) => {
      link.busy += 1;
      link.requests += 1;
      idle.delete(link);
    },
    end: (link) => {
      link.busy -= 1;
      if (link.busy === 0 && links.has(link.raw)) idle.add(link);
    },
    retire: () => {
      for (const link of links.values()) {
        link.retired = true;
        if (link.busy === 0) link.raw.destroy();
      }
    },
    destroyAll: async () => {
      await Promise.all(
        [...links.keys()].map(
          (raw) =>
            new Promise((resolve) => {
              raw.once("close", resolve);
              raw.destroy();
            }),
        ),
      );
    },
  };
};
