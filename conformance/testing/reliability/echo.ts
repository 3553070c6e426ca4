import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import net from "node:net";
import { buffer, text } from "node:stream/consumers";
import { hostile } from "../../../reports/testing/fixture.ts";
import { listening, type TestServer } from "../servers.ts";

/** A proxy whose answers echo everything sent, in every form that texts take. */
export interface EchoProxy extends TestServer {
  /** Codes and tokens that passed. */
  readonly issued: Set<string>;
  /** Whether answers are occasionally spoilt. */
  spoils: boolean;
}

/** One answer in this many is spoilt, so that breaches are reported. */
const SPOILT_EVERY = 11;
const fields = /"(?:code|accessToken|refreshToken)"\s*:\s*"([^"]+)"/g;

export const startEchoProxy = async (origins: Readonly<Record<string, string>>): Promise<EchoProxy> => {
  const issued = new Set<string>();
  let seen = 0;
  const server = createServer((incoming, outgoing) => {
    seen += 1;
    const isSpoilt = proxy.spoils && seen % SPOILT_EVERY === 0;
    pass(origins, incoming, outgoing, issued, isSpoilt).catch(() => outgoing.destroy());
  });
  // As a proxy it accepts everybody, except those whose credentials it echoes in a refusal.
  server.on("connect", (incoming, socket) => {
    seen += 1;
    if (seen % SPOILT_EVERY === 0) {
      const shown = incoming.headers["proxy-authorization"] ?? "";
      socket.end(`HTTP/1.1 407 Not ${shown}\r\nx-echo: ${shown}\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const onward = net.connect(Number(incoming.url?.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connected\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    for (const one of [onward, socket])
      one.on("error", () => [onward, socket].forEach((end) => end.destroy()));
  });
  const proxy: EchoProxy = { ...(await listening(server)), spoils: true, issued };
  return proxy;
};

const pass = async (
  origins: Readonly<Record<string, string>>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  issued: Set<string>,
  isSpoilt: boolean,
): Promise<void> => {
  const [, name = "", rest = ""] = /^\/(\w+)(.*)$/s.exec(incoming.url ?? "") ?? [];
  const { method, headers } = incoming;
  const sent = await buffer(incoming);
  const onward = request(new URL(origins[name] ?? origins["service"] ?? ""), { method, path: rest, headers });
  const [answer] = (await once(onward.end(sent), "response")) as [IncomingMessage];
  const received = await text(answer);
  for (const [, value] of received.matchAll(fields)) if (value !== undefined) issued.add(value);
  const parts = echoOf(incoming, sent.toString("utf8"));
  const echo = parts.join(" | ");
  const status = isSpoilt && name === "service" ? 500 : (answer.statusCode ?? 500);
  const { location } = answer.headers;
  outgoing.writeHead(status, {
    "content-type": "application/json",
    "x-echo": wholeIn(4_000, parts.map(encodeURIComponent)),
    "x-echo-base64": Buffer.from(echo).toString("base64").slice(0, 4_000),
    "set-cookie": "session=planted-cookie-0123456789abcdef; Path=/",
    ...(location === undefined ? {} : { location: `${location}&was=${encodeURIComponent(echo)}` }),
  });
  outgoing.end(status < 400 ? received : JSON.stringify({ error: `${hostile} ${echo}`, was: received }));
};

/** Everything that was sent: raw, encoded on its own, and encoded in the middle of something longer. */
const echoOf = (incoming: IncomingMessage, body: string): readonly string[] => {
  const all = [incoming.url ?? "", ...Object.values(incoming.headers).map(String), body];
  return all.flatMap((one) => [
    one,
    encodeURIComponent(one),
    Buffer.from(one).toString("base64"),
    Buffer.from(`user:${one}`).toString("base64url"),
    Buffer.from(`12:${one}!`).toString("base64"),
    JSON.stringify(JSON.stringify(one)),
    escapedForm(one),
  ]);
};

/** The texts that fit, each of them whole: a secret that is cut off is not searched for. */
const wholeIn = (most: number, texts: readonly string[]): string =>
  texts.reduce((all, text) => (all.length + text.length < most ? `${all}|${text}` : all), "");

/** As some writers of JSON escape more than they must. */
export const escapedForm = (text: string): string =>
  text.replaceAll(
    /[^\w\s"\\-]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
