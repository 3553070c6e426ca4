import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { Agent, request } from "undici";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Certificate, currentLeaf, makeCa } from "../../../fake-server/receiver/certificate.ts";
import { listening } from "../../testing/servers.ts";
import { stopAfterEach } from "../../testing/stopping.ts";
import { createDialer, type DialSettings, type Dialer } from "./dialer.ts";

const stopping = stopAfterEach();
afterEach(() => void vi.unstubAllEnvs());
const NAME = "service.test";
const resolve = { [NAME]: "127.0.0.1" };

let authority: Certificate;
let leaf: Certificate;
beforeAll(async () => {
  authority = await makeCa(Date.now());
  leaf = await currentLeaf(authority, [NAME], Date.now());
});

const listen = async (server: net.Server): Promise<number> => (await stopping(listening(server))).port;

/** A service under a name that only the settings resolve; it answers with the common name of the client's certificate. */
const secureService = async (): Promise<URL> => {
  const server = https.createServer(
    { key: leaf.keyPem, cert: leaf.certPem, requestCert: true, rejectUnauthorized: false },
    (asked, response) => {
      const { subject } = (asked.socket as import("node:tls").TLSSocket).getPeerCertificate() as {
        subject?: { CN: string };
      };
      response.end(`${asked.headers.host?.split(":")[0]} knows ${subject?.CN ?? "nobody"}`);
    },
  );
  return new URL(`https://${NAME}:${await listen(server)}`);
};

/** A proxy that opens tunnels for clients that know the password. */
const startProxy = async (): Promise<{ readonly port: number; readonly asked: string[] }> => {
  const asked: string[] = [];
  const server = http.createServer((_, response) => void response.writeHead(400).end());
  server.on("connect", (request, socket) => {
    const credentials = request.headers["proxy-authorization"]?.split(" ")[1] ?? "";
    asked.push(`${request.url} by ${Buffer.from(credentials, "base64").toString()}`);
    if (!asked.at(-1)?.endsWith("by us:p@ss")) {
      socket.end("HTTP/1.1 407 Who are you\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    const [host, port] = (request.url ?? "").split(":");
    const onward = net.connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    for (const one of [socket, onward]) one.on("error", () => [socket, onward].map((end) => end.destroy()));
  });
  return { port: await listen(server), asked };
};

const byClient = async (dialer: Dialer, origin: URL): Promise<string> => {
  const dispatcher = new Agent({ allowH2: false, connect: dialer.connector(2_000) });
  try {
    return await (await request(origin, { dispatcher })).body.text();
  } finally {
    await dispatcher.destroy();
  }
};

const bySocket = async (dialer: Dialer, origin: URL): Promise<string> => {
  const { socket, event } = dialer.open(origin, await dialer.tunnel(origin, 2_000));
  if (event !== undefined) await once(socket, event);
  socket.write(`GET / HTTP/1.1\r\nHost: ${origin.host}\r\nConnection: close\r\n\r\n`);
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return (
    text
      .split("\r\n\r\n")[1]
      ?.replaceAll(/^[0-9a-f]+\r\n/g, "")
      .trim() ?? ""
  );
};

describe.each([
  ["an HTTP client", byClient],
  ["a raw socket", bySocket],
])("a service reached by %s", (_, call) => {
  const over = (settings: DialSettings, origin: URL) => call(createDialer(settings), origin);

  it("is rejected if its certificate's authority is not trusted", async () => {
    const origin = await secureService();
    await expect(over({ resolve }, origin)).rejects.toThrow(/certificate/i);
    const other = await makeCa(Date.now(), "somebody else");
    await expect(over({ resolve, ca: other.certPem }, origin)).rejects.toThrow(/certificate|signature/i);
    expect(await over({ resolve, ca: authority.certPem }, origin)).toContain(`${NAME} knows nobody`);
  });

  it("is rejected so even if Node's environment turns checks off", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const origin = await secureService();
    await expect(over({ resolve }, origin)).rejects.toThrow(/certificate/i);
  });

  it("is rejected if its certificate has another name, whatever resolves that name", async () => {
    const origin = await secureService();
    origin.hostname = "other.test";
    const settings = { resolve: { "other.test": "127.0.0.1" }, ca: authority.certPem };
    await expect(over(settings, origin)).rejects.toThrow(/altnames/);
  });

  it("gets the client's certificate", async () => {
    const { certPem: cert, keyPem: key } = await currentLeaf(authority, ["client.test"], Date.now());
    const clientCertificate = { cert, key, passphrase: undefined };
    const settings = { resolve, ca: authority.certPem, clientCertificate };
    expect(await over(settings, await secureService())).toContain("knows Touchstone");
  });

  it("is reached through a proxy, which sees only the address", async () => {
    const { port, asked } = await startProxy();
    const origin = await secureService();
    const proxy = { url: `http://us:p%40ss@127.0.0.1:${port}`, except: [] };
    expect(await over({ resolve, ca: authority.certPem, proxy }, origin)).toContain(`${NAME} knows nobody`);
    expect(asked).toEqual([`127.0.0.1:${origin.port} by us:p@ss`]);
  });

  it("is reached through a proxy's tunnel without TLS too", async () => {
    const { port, asked } = await startProxy();
    const plain = await listen(http.createServer((_request, response) => void response.end("plain")));
    const proxy = { url: `http://us:p%40ss@127.0.0.1:${port}`, except: [] };
    expect(await over({ resolve, proxy }, new URL(`http://${NAME}:${plain}`))).toContain("plain");
    expect(asked).toHaveLength(1);
  });

  it("is not reached if the proxy refuses, and the error does not show the password", async () => {
    const { port } = await startProxy();
    const proxy = { url: `http://us:hush-hush@127.0.0.1:${port}`, except: [] };
    const failed = over({ resolve, proxy }, new URL(`http://${NAME}:1`));
    await expect(failed).rejects.toThrow(/proxy 127\.0\.0\.1:\d+ answered with status 407/);
    await expect(failed).rejects.not.toThrow(/hush/);
  });

  it("is reached directly if the proxy's exceptions name it", async () => {
    const { port, asked } = await startProxy();
    const origin = await secureService();
    for (const except of [[NAME], [".test"]])
      expect(
        await over(
          { resolve, ca: authority.certPem, proxy: { url: `http://127.0.0.1:${port}`, except } },
          origin,
        ),
      ).toContain("knows nobody");
    expect(asked).toEqual([]);
  });
});
