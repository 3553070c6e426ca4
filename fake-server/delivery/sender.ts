import http from "node:http";
import https from "node:https";
import tls from "node:tls";
import { errorMessage } from "../../conformance/contract/text.ts";
import type { ServiceClock, Work } from "../clock.ts";
import type { PushFailure, PushOutcome, PushRequest } from "../context.ts";

export type SenderClock = Pick<ServiceClock, "nowMs" | "schedule" | "pause">;

export interface SendOptions {
  readonly ca: string | undefined;
  readonly checksCertificate: boolean;
  readonly keepsConnections: boolean;
  /** For the whole exchange, on the service's clock unless real time is requested. */
  readonly timeoutMs: number;
  readonly timesOutInRealTime?: boolean;
  /** Notified whenever the exchange progresses. */
  readonly work: Work;
}

export type Sender = ReturnType<typeof createSender>;

/** Idle connections are closed earlier than common servers do, so that no push meets a closing one. */
const IDLE_MS = 2_000;
/** More than any acknowledgement needs; longer answers are not read to their end. */
const BODY_MAX_BYTES = 64 * 1024;

/** Agents for kept and for unkept connections. HTTP/1.1 only; every handshake is a full one. */
const agentsOf = (keepAlive: boolean) => {
  const options = { keepAlive, timeout: IDLE_MS, maxSockets: Infinity, maxFreeSockets: 256 };
  return {
    "http:": new http.Agent(options),
    "https:": new https.Agent({ ...options, maxCachedSessions: 0, ALPNProtocols: ["http/1.1"] }),
  };
};

type Agents = Record<"kept" | "single", ReturnType<typeof agentsOf>>;

/** What connections trust, read once for each authority and not for each connection. */
const createTrust = () => {
  const contexts = new Map<string, tls.SecureContext>();
  return (ca: string): tls.SecureContext => {
    const known = contexts.get(ca) ?? tls.createSecureContext({ ca });
    contexts.set(ca, known);
    return known;
  };
};

interface Connecting {
  readonly agents: Agents;
  readonly trust: ReturnType<typeof createTrust>;
}

/** The HTTP side of deliveries: one request, one outcome, in all cases. */
export const createSender = (clock: SenderClock) => {
  const agents: Agents = { kept: agentsOf(true), single: agentsOf(false) };
  const trust = createTrust();
  let closed = false;
  return {
    // A request that Node refuses to send, such as one with a line break in a header, is a failed push too.
    send: (request: PushRequest, options: SendOptions): Promise<PushOutcome> =>
      exchange({ clock, agents, trust, isClosed: () => closed }, request, options).catch(
        (error: unknown) => ({ kind: "unreachable", message: errorMessage(error) }),
      ),
    /** Closes all connections; requests in flight end as `interrupted`. */
    close: (): void => {
      closed = true;
      for (const { "http:": plain, "https:": secure } of Object.values(agents)) {
        plain.destroy();
        secure.destroy();
      }
    },
  };
};

const open = (
  { agents, trust }: Connecting,
  request: PushRequest,
  options: SendOptions,
): http.ClientRequest => {
  const url = new URL(request.url);
  const scheme = url.protocol === "https:" ? "https:" : "http:";
  return (scheme === "https:" ? https : http).request(url, {
    agent: (options.keepsConnections ? agents.kept : agents.single)[scheme],
    method: request.method,
    headers: {
      ...request.headers,
      ...(request.body === undefined ? {} : { "content-length": Buffer.byteLength(request.body) }),
    },
    ...(scheme === "https:" ? { rejectUnauthorized: options.checksCertificate } : {}),
    ...(scheme === "https:" && options.ca !== undefined
      ? // The agent tells its connections apart by the authority itself.
        { ca: options.ca, secureContext: trust(options.ca) }
      : {}),
  });
};

/** Calls back at the timeout of an exchange, unless cancelled. */
const afterTimeout = (
  clock: SenderClock,
  { timeoutMs, timesOutInRealTime = false }: SendOptions,
  timedOut: () => void,
): (() => void) => {
  if (!timesOutInRealTime) return clock.schedule(clock.nowMs() + timeoutMs, timedOut);
  let isOver = false;
  void clock.pause(timeoutMs).then(() => (isOver ? undefined : timedOut()));
  return () => {
    isOver = true;
  };
};

/** One request and its outcome. Rejects if Node refuses to send it. */
const exchange = (
  sender: Connecting & { readonly clock: SenderClock; readonly isClosed: () => boolean },
  request: PushRequest,
  options: SendOptions,
): Promise<PushOutcome> =>
  new Promise((resolve) => {
    const { clock } = sender;
    const outgoing = open(sender, request, options);
    let readBefore = 0;
    let status: number | undefined;
    let timedOut = false;
    const settle = (outcome: PushOutcome): void => {
      endTimeout();
      resolve(outcome);
    };
    const fail = (error: NodeJS.ErrnoException): void => {
      const bytesRead = (outgoing.socket?.bytesRead ?? 0) - readBefore;
      const kind = sender.isClosed()
        ? "interrupted"
        : timedOut
          ? "timed-out"
          : failureOf(error, bytesRead > 0);
      settle({ kind, message: error.message, ...(status === undefined ? {} : { status }) });
    };
    const endTimeout = afterTimeout(clock, options, () => {
      timedOut = true;
      options.work.moved();
      outgoing.destroy(new Error("the answer did not come in time"));
    });
    outgoing.on("error", fail);
    outgoing.on("socket", (socket) => {
      readBefore = outgoing.reusedSocket ? socket.bytesRead : 0;
      if (outgoing.reusedSocket) return;
      socket.once("connect", options.work.moved);
      socket.once("secureConnect", options.work.moved);
    });
    outgoing.on("information", options.work.moved);
    outgoing.on("response", (incoming) => {
      status = incoming.statusCode;
      incoming.on("error", fail);
      readAnswer(incoming, options.work, (answered, isCut) => {
        settle(answered);
        if (isCut) outgoing.destroy();
      });
    });
    outgoing.end(request.body);
  });

/** Reads an answer to its end, or to more than any acknowledgement needs. */
const readAnswer = (
  incoming: http.IncomingMessage,
  work: Work,
  settle: (outcome: PushOutcome, isCut: boolean) => void,
): void => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const answered = (isCut: boolean): void =>
    settle(
      {
        kind: "answered",
        status: incoming.statusCode ?? 0,
        reason: incoming.statusMessage ?? "",
        headers: headersOf(incoming),
        body: Buffer.concat(pieces).toString("utf8", 0, BODY_MAX_BYTES),
        pieces: pieces.length,
      },
      isCut,
    );
  incoming.on("data", (piece: Buffer) => {
    work.moved();
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > BODY_MAX_BYTES) answered(true);
  });
  incoming.on("end", () => answered(false));
};

const headersOf = ({ headers }: http.IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );

const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;

/** The kind of failure of a Node error; Node reports closed and reset connections alike. */
const failureOf = ({ code = "", syscall }: NodeJS.ErrnoException, answerBegan: boolean): PushFailure => {
  if (code === "ECONNREFUSED") return "refused";
  if (UNTRUSTED.test(code)) return "untrusted";
  if (code.startsWith("HPE_")) return "malformed";
  if (answerBegan && (code === "ECONNRESET" || code === "EPIPE")) return "cut";
  if (code === "ECONNRESET" && syscall === undefined) return "closed";
  if (code === "ECONNRESET" || code === "EPIPE") return "reset";
  return "unreachable";
};
