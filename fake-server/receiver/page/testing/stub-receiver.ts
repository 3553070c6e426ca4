import { EventEmitter, once } from "node:events";
import http from "node:http";
import { madeNotification } from "../../../../conformance/testing/notification.ts";
import { listening } from "../../../../conformance/testing/servers.ts";
import type { Push, PushLine, PushLines, ReceiverState } from "../../../../conformance/contract/push.ts";
import { answerPage } from "../serve.ts";

/** A line as a test writes it: the stub numbers it. */
export type Unnumbered = PushLine extends infer Line
  ? Line extends { readonly n: number }
    ? Omit<Line, "n" | "epoch">
    : never
  : never;

export type StubReceiver = Awaited<ReturnType<typeof startStubReceiver>>;

/** The part of a receiver's control interface that the page uses, fed by a test instead of by pushes. */
export const startStubReceiver = async ({ token }: { readonly token?: string } = {}) => {
  const epoch = "1a5ad4c2-8b5c-4a8d-9c7b-0d2f63b1d001";
  const lines: PushLine[] = [];
  const news = new EventEmitter();
  news.setMaxListeners(0);
  const started: Unnumbered = { kind: "started", at: "2026-03-01T09:00:00.000Z", atMs: 0 };

  /** Sends lines to all listeners; returns the number of the last one. */
  const tell = (...next: Unnumbered[]): number => {
    for (const line of next) lines.push({ ...line, n: lines.length + 1, epoch });
    news.emit("lines");
    return lines.length;
  };

  const pushes = async (query: URLSearchParams): Promise<PushLines> => {
    const after = Number(query.get("after"));
    const limit = Number(query.get("limit") ?? Infinity);
    const wait = Number(query.get("wait"));
    if (lines.length <= after && wait > 0) {
      await once(news, "lines", { signal: AbortSignal.timeout(wait) }).catch(() => {});
    }
    return { epoch, lines: lines.slice(after, after + limit), last: lines.length };
  };

  const state = (): ReceiverState => ({
    callbackUrl: "https://127.0.0.1:9443/service/webhook",
    epoch,
    nowMs: Math.max(0, ...lines.slice(-1).map((line) => ("completeMs" in line ? line.completeMs : 0))),
    last: lines.length,
    lastConnection: 0,
    listening: true,
  });

  const server = http.createServer((request, response) => {
    void answer(request, response, { token, lines, pushes, state });
  });
  const { origin, stop } = await listening(server);
  tell(started);
  return {
    url: `${origin}/`,
    tell,
    /** Simulates a receiver restarted without its journal. */
    forget: (): void => {
      lines.length = 0;
      tell(started);
    },
    stop,
  };
};

interface Answers {
  readonly token: string | undefined;
  readonly lines: readonly PushLine[];
  readonly pushes: (query: URLSearchParams) => Promise<PushLines>;
  readonly state: () => ReceiverState;
}

const answer = async (
  request: http.IncomingMessage,
  response: http.ServerResponse,
  { token, lines, pushes, state }: Answers,
): Promise<void> => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://stub");
  const page = await answerPage(pathname);
  if (page !== undefined) {
    response.writeHead(page.status, page.headers).end(page.body);
    return;
  }
  if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
    response.writeHead(401, { "www-authenticate": "Bearer" }).end();
    return;
  }
  if (pathname === "/journal") {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return;
  }
  const answers: Readonly<Record<string, () => unknown>> = {
    "/pushes": () => pushes(searchParams),
    "/state": state,
    "/plan": () => ({ rules: [] }),
  };
  const body = await answers[pathname]?.();
  response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

/** A UUID that identifies the push case. */
export const uuid = (kind: string, number: number): string =>
  `${kind.padEnd(8, "0")}-0000-4000-8000-${String(number).padStart(12, "0")}`;

export interface PushSketch extends Partial<Push> {
  readonly notification: number;
  readonly atMs: number;
  readonly status?: number;
}

/** A push at this moment, answered 2 ms later; tests set the fields that matter, the rest is plausible. */
export const push = ({ notification, atMs, ...rest }: PushSketch): Unnumbered => {
  const notificationId = uuid("5eed", notification);
  const accountId = uuid("acc", notification % 7);
  const body = JSON.stringify({ ...madeNotification, id: notificationId, accountId });
  const status = rest.status ?? 200;
  return {
    kind: "push",
    firstByteMs: atMs,
    completeMs: atMs + 0.8,
    answeredMs: atMs + 2,
    outcome: "sent",
    uncertaintyMs: 0.4,
    method: "POST",
    path: "/service/webhook",
    headers: [
      ["Host", "127.0.0.1:9443"],
      ["Content-Type", "application/json"],
      ["Content-Length", String(body.length)],
    ],
    bodyBytes: body.length,
    bodySha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    body,
    bodyEncoding: "utf8",
    notificationId,
    accountId,
    attempt: 1,
    connection: {
      id: notification,
      remotePort: 40_000 + notification,
      request: 1,
      tls: { protocol: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384" },
    },
    action: "answer",
    status,
    answer: `HTTP/1.1 ${status}\ncontent-type: application/json\n\n{"id":"${notificationId}","received":true}`,
    ...rest,
  };
};
