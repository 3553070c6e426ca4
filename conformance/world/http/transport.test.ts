import net, { type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { deadOrigin, serveEndless, serveHttp, serveTcp } from "../../testing/servers.ts";
import type { Request } from "../exchange.ts";
import { open, openTo, get, problemOf, replying, ok, stopping } from "./testing/open-transport.ts";

/** What is received of a request. */
const received = async (request: Request): Promise<string> => {
  const seen: string[] = [];
  const { transport, sender } = await openTo(replying(ok, seen));
  await transport.send(request, sender);
  return seen.join("");
};

describe("requests", () => {
  it.each(["/a/../b?x=%zz", "/a//b/./c?%41=%61&&==", "/%2e%2e/x?q='\"|^`{}", "/?", "/x?a=b#c"])(
    "send the path %s byte for byte",
    async (path) => {
      expect((await received(get(path))).split("\r\n")[0]).toBe(`GET ${path} HTTP/1.1`);
    },
  );

  it("send what no HTTP client writes over a dedicated connection, and then anything else", async () => {
    const seen: string[] = [];
    const { transport, sender } = await openTo(replying(ok, seen));
    const connection = transport.dedicated();
    for (const path of ["/x?state=a \0\t\x01\x7f\xE9$&", "/y"]) await connection.send(get(path), sender);
    await connection.close();
    expect(seen.join("").match(/^GET .*/gm)).toEqual([
      "GET /x?state=a \0\t\x01\x7f\xE9$& HTTP/1.1",
      "GET /y HTTP/1.1",
    ]);
    expect(sender.scope.exchanges[0]?.request.path).toBe("/x?state=a \0\t\x01\x7f\xE9$&");
  });

  it("send headers in order, repeated ones included", async () => {
    const headers = [
      ["X-B", "1"],
      ["x-a", "2"],
      ["x-b", "3"],
    ] as const;
    const lines = (await received(get("/", headers))).split("\r\n");
    expect(lines.filter((line) => /^x-/i.test(line))).toEqual(["X-B: 1", "x-a: 2", "x-b: 3"]);
  });

  it("send characters beyond Latin-1 in a header as UTF-8", async () => {
    expect(await received(get("/", [["x-token", "t\u{1F511}k"]]))).toMatch(
      /x-token: t(\u{1F511}|\xf0\x9f\x94\x91)k\r\n/u,
    );
  });

  it("are sent once if they may change something, even if the connection is closed", async () => {
    let arrived = 0;
    const { transport, sender } = await openTo(
      serveHttp((request) => {
        arrived += 1;
        request.socket.destroy();
      }),
    );
    const post: Request = { method: "POST", path: "/", headers: [], body: "{}" };
    expect((await problemOf(transport.send(post, sender))).reason).toBe("closed");
    expect(arrived).toBe(1);
    expect([...sender.scope.losses.open().keys()]).toEqual(["POST / 1"]);
  });

  it("do not offer HTTP/2", async () => {
    const hello = Promise.withResolvers<string>();
    const { origin } = await stopping(
      serveTcp((socket) =>
        socket.once("data", (chunk) => {
          hello.resolve(chunk.toString("latin1"));
          socket.destroy();
        }),
      ),
    );
    const { transport, sender } = await open(origin.replace("http:", "https:"));
    await problemOf(transport.send(get("/"), sender));
    // ALPN names appear literally in the first message of TLS, each after its length.
    expect(await hello.promise).not.toContain("\u0002h2");
  });
});

describe("answers", () => {
  it("keep the order of headers, and repeated ones apart", async () => {
    const { origin } = await stopping(
      replying(
        "HTTP/1.1 200 OK\r\nX-B: 1\r\nset-cookie: a\r\n7: x\r\nx-b: 2\r\nSet-Cookie: b\r\ncontent-length: 0\r\n\r\n",
      ),
    );
    const { transport, sender } = await open(origin);
    expect((await transport.send(get("/"), sender)).headers).toEqual([
      ["x-b", "1"],
      ["set-cookie", "a"],
      ["7", "x"],
      ["x-b", "2"],
      ["set-cookie", "b"],
      ["content-length", "0"],
    ]);
  });

  it("have header values without the white space around them", async () => {
    const { transport, sender } = await openTo(
      replying("HTTP/1.1 302 Found\r\nLocation: \t /a b\t \r\nx-empty:  \r\ncontent-length: 0\r\n\r\n"),
    );
    expect((await transport.send(get("/"), sender)).headers).toEqual([
      ["location", "/a b"],
      ["x-empty", ""],
      ["content-length", "0"],
    ]);
  });

  it("are not followed if they redirect", async () => {
    const asked: (string | undefined)[] = [];
    const { transport, sender } = await openTo(
      serveHttp((request, response) => {
        asked.push(request.url);
        response.writeHead(302, { location: "/elsewhere" }).end();
      }),
    );
    expect((await transport.send(get("/here"), sender)).status).toBe(302);
    expect(asked).toEqual(["/here"]);
  });

  // RFC 9110 section 15.2: a client must be able to read them, even if it expects none.
  describe("after interim answers", () => {
    const interim = "HTTP/1.1 100 Continue\r\nserver: proxy\r\n\r\nHTTP/1.1 100\r\n\r\n";
    const hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
    const body = "HTTP/1.1 100 Continue\r\n\r\n";
    const last = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

    it.each([
      ["in one piece", [interim + hints + last]],
      ["each on its own", [interim, hints, last]],
      ["byte by byte", Array.from(interim + last)],
      ["with the body in a piece of its own", [interim, last.slice(0, -body.length), body]],
      ["of HTTP/1.0", [interim.replaceAll("HTTP/1.1", "HTTP/1.0"), last]],
    ])("are read: %s", async (_, pieces) => {
      const { transport, sender } = await openTo(
        serveTcp((socket) =>
          socket.setNoDelay(true).on("data", () => {
            void (async () => {
              for (const piece of pieces) {
                socket.write(piece);
                await turn();
              }
            })();
          }),
        ),
      );
      for (const method of ["POST", "GET"]) {
        const answer = await transport.send({ ...get("/"), method }, sender);
        expect(answer).toMatchObject({ status: 200, text: body });
        expect(answer.headers).toEqual([["content-length", String(body.length)]]);
      }
    });

    it("are missing if only interim answers or another protocol follow", async () => {
      const reasonAfter = async (bytes: string, timeoutMs?: number): Promise<string> => {
        const { transport, sender } = await openTo(replying(bytes), timeoutMs);
        return (await problemOf(transport.send({ ...get("/"), method: "POST" }, sender))).reason;
      };
      expect(await reasonAfter(interim, 200)).toBe("timeout");
      expect(await reasonAfter("HTTP/1.1 100 Con", 200)).toBe("timeout");
      expect(await reasonAfter(`HTTP/1.1 100 ${"x".repeat(20_000)}\r\n\r\n`)).toBe("protocol");
      const upgrade = "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
      expect(await reasonAfter(upgrade)).toBe("protocol");
    });
  });
});

describe("missing answers", () => {
  it.each<[string, (socket: Socket) => void]>([
    ["closed", (socket) => void socket.end()],
    ["closed", (socket) => void socket.resetAndDestroy()],
    ["closed", (socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab")],
    ["protocol", (socket) => void socket.end("SSH-2.0-OpenSSH\r\n")],
  ])("are reported as %s: %s", async (reason, react) => {
    const { transport, sender } = await openTo(
      serveTcp((socket) => socket.once("data", () => react(socket))),
    );
    const problem = await problemOf(transport.send(get("/"), sender));
    expect(problem.reason).toBe(reason);
    expect(problem.message).not.toBe("");
  });

  it("are reported as refused, or as a protocol error if TLS is answered in plain", async () => {
    const plain = await stopping(
      serveTcp((socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad\r\n\r\n"))),
    );
    const reasonAt = async (origin: string): Promise<string> => {
      const { transport, sender } = await open(origin);
      const problem = await problemOf(transport.send(get("/"), sender));
      expect(problem.message).not.toBe("");
      return problem.reason;
    };
    expect(await reasonAt(await deadOrigin())).toBe("refused");
    expect(await reasonAt(plain.origin.replace("http:", "https:"))).toBe("protocol");
  });

  // Names are resolved by a few threads of the process, which lookups of other tests may block for long.
  it("are reported as refused if both addresses of a name refuse", async () => {
    const { transport, sender } = await open((await deadOrigin()).replace("127.0.0.1", "localhost"), 60_000);
    const problem = await problemOf(transport.send(get("/"), sender));
    expect(problem).toMatchObject({ reason: "refused" });
    expect(problem.message).toContain("ECONNREFUSED");
  });

  it.each([
    ["whose headers never come", (): void => {}],
    ["whose headers stop half-way", (socket: Socket): void => void socket.write("HTTP/1.1 200 OK\r\nx-")],
    [
      "whose body drips for ever",
      (socket: Socket): void => {
        socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        const drip = setInterval(() => socket.write("1\r\nx\r\n"), 10);
        socket.on("close", () => clearInterval(drip));
      },
    ],
  ] as const)("are reported as a time-out for an answer %s", async (_, react) => {
    const { transport, sender } = await openTo(
      serveTcp((socket) => socket.once("data", () => react(socket))),
      100,
    );
    expect((await problemOf(transport.send(get("/"), sender))).reason).toBe("timeout");
    expect(transport.inFlight()).toBe(0);
  });

  it("are reported as too large for an endless answer, of which only a bounded part is read", async () => {
    const { origin, sentBytes } = await stopping(serveEndless());
    const { transport, sender } = await open(origin);
    expect((await problemOf(transport.send(get("/"), sender))).reason).toBe("too-large");
    expect(sentBytes()).toBeLessThan(64 * 1024 * 1024);
  });
});

describe("connections", () => {
  it("are reused, except dedicated ones, which are all distinct", async () => {
    const ports: (number | undefined)[] = [];
    const { transport, sender } = await openTo(
      serveHttp((request, response) => {
        ports.push(request.socket.remotePort);
        response.end("{}");
      }),
    );
    const own = [transport.dedicated(), transport.dedicated()];
    for (const one of [...own, ...own]) await one.send(get("/"), sender);
    const [first, second, firstAgain, secondAgain] = ports.splice(0);
    expect([firstAgain, secondAgain]).toEqual([first, second]);
    expect(first).not.toBe(second);
    for (let round = 0; round < 12; round += 1) await transport.send(get("/"), sender);
    const shared = new Set(ports);
    expect(shared.size).toBeLessThanOrEqual(4);
    expect([shared.has(first), shared.has(second)]).toEqual([false, false]);
    await Promise.all(own.map((one) => one.close()));
  });

  it("carry one request each for a scope that keeps none", async () => {
    const sockets = new Set<net.Socket>();
    const { transport, sender } = await openTo(
      serveHttp((request, response) => {
        sockets.add(request.socket);
        response.end("{}");
      }),
    );
    await transport.send(get("/"), sender);
    const alone = { ...sender, scope: { ...sender.scope, keepsNoConnection: true } };
    for (let round = 0; round < 3; round += 1) await transport.send(get("/"), alone);
    expect(sockets.size).toBe(4);
  });

  it("are closed with the transport during a request, dedicated ones too", async () => {
    const { transport, sender } = await openTo(
      serveTcp(() => {}),
      60_000,
    );
    const waiting = [transport.dedicated(), transport].map((one) => problemOf(one.send(get("/"), sender)));
    await transport.close();
    expect((await Promise.all(waiting)).map(({ reason }) => reason)).toEqual(["closed", "closed"]);
    await transport.close();
  });
});

it("the transport connects to an IPv6 address", async (context) => {
  const server = net.createServer((socket) => socket.once("data", () => socket.end(ok)));
  const isThere = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(0, "::1", () => resolve(true));
  });
  if (!isThere) context.skip("this machine has no IPv6");
  const { port } = server.address() as net.AddressInfo;
  const { transport, sender } = await open(`http://[::1]:${port}`);
  expect((await transport.send(get("/"), sender)).status).toBe(200);
  server.close();
});
