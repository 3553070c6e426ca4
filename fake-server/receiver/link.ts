import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { LostStage, Push } from "../../conformance/contract/push.ts";
import type { ReceiverClock, Stamp } from "./clock.ts";
import type { LostConnection } from "./faults.ts";

export interface HandshakeFailure {
  readonly reason: string;
  /** Whether the received bytes were TLS, as far as they went. */
  readonly isTls: boolean;
}

export const peerOf = (socket: Socket): string => `${socket.remoteAddress}:${socket.remotePort}`;

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

export const newLink = (id: number, raw: Socket, remotePort: number, opened: Stamp) => {
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
export const stampBytes = (link: Link, socket: Socket, clock: ReceiverClock): void => {
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
export const lostWith = (link: Link, sinceMs: number): LostConnection | undefined => {
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
