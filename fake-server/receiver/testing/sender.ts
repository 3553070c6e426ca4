import { Agent as HttpAgent, type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { randomUUID } from "node:crypto";
import type { LookupFunction } from "node:net";
import type { PushLine, PushLines, PushPlan } from "../../../conformance/contract/push.ts";
import type { RunningReceiver } from "../start.ts";
import { madeNotification } from "../../../conformance/testing/made.ts";

/** The outcome of a push, as its sender saw it. */
export type Sent =
  | {
      readonly outcome: "answered";
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Buffer;
      /** False if the connection ended before the answer was complete. */
      readonly whole: boolean;
      readonly informational: readonly number[];
    }
  | { readonly outcome: "failed"; readonly code: string };

interface SendOptions {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborts the push. */
  readonly signal?: AbortSignal;
}

/**
 * A sender that trusts the receiver's authority and keeps its connections. If an IPv4 address is given, the receiver's
 * name resolves to it.
 */
export const openSender = (
  { callbackUrl, caPem }: Pick<RunningReceiver, "callbackUrl" | "caPem">,
  address?: string,
) => {
  const tls = callbackUrl.startsWith("https:");
  const agent = tls
    ? new Agent({ keepAlive: true, ...(caPem === undefined ? {} : { ca: caPem }) })
    : new HttpAgent({ keepAlive: true });
  return {
    close: () => agent.destroy(),
    send: (body: unknown, { method = "POST", path, headers, signal }: SendOptions = {}): Promise<Sent> =>
      new Promise((resolve) => {
        const informational: number[] = [];
        const url = path === undefined ? callbackUrl : new URL(path, callbackUrl);
        const request = (tls ? httpsRequest : httpRequest)(
          url,
          {
            method,
            agent,
            ...(signal === undefined ? {} : { signal }),
            headers: { "content-type": "application/json", ...headers },
            ...(address === undefined ? {} : { lookup: lookupOf(address) }),
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("error", () => undefined);
            response.on("close", () =>
              resolve({
                outcome: "answered",
                status: response.statusCode ?? 0,
                headers: response.headers,
                body: Buffer.concat(chunks),
                whole: response.complete,
                informational,
              }),
            );
          },
        );
        request.on("information", ({ statusCode }) => informational.push(statusCode));
        request.on("error", (error: NodeJS.ErrnoException) =>
          resolve({ outcome: "failed", code: error.code ?? error.message }),
        );
        request.end(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body));
      }),
  };
};

const lookupOf =
  (address: string): LookupFunction =>
  (_name, { all }, found) =>
    all === true ? found(null, [{ address, family: 4 }]) : found(null, address, 4);

/** A notification as in section 2.3. */
export const notification = (id: string = randomUUID()) => ({ ...madeNotification, id });

export const operate = ({ controlUrl, token }: Pick<RunningReceiver, "controlUrl" | "token">) => {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }> => {
    const answer = await fetch(controlUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) };
  };
  const lines = async (after = 0, waitMs = 0, limit?: number): Promise<PushLines> =>
    (
      await call(
        "GET",
        `/pushes?after=${after}&wait=${waitMs}${limit === undefined ? "" : `&limit=${limit}`}`,
      )
    ).body as PushLines;
  return {
    call,
    lines,
    plan: (plan: PushPlan) => call("PUT", "/plan", plan),
    /** Waits until a line of the kind satisfies `test`. */
    until: async <Kind extends PushLine["kind"]>(
      kind: Kind,
      test: (line: Extract<PushLine, { kind: Kind }>) => boolean = () => true,
    ): Promise<Extract<PushLine, { kind: Kind }>> => {
      for (let after = 0, tries = 0; tries < 200; tries += 1) {
        const answer = await lines(after, 1_000);
        const found = answer.lines.find(
          (line): line is Extract<PushLine, { kind: Kind }> =>
            line.kind === kind && test(line as Extract<PushLine, { kind: Kind }>),
        );
        if (found !== undefined) return found;
        after = answer.last;
      }
      throw new Error(`no line of kind ${kind} came`);
    },
  };
};
