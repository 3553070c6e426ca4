import http from "node:http";
import net, { type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { deadOrigin, serveHttp, serveTcp, type TestServer } from "../../testing/servers.ts";
import { stopAfterEach } from "../../testing/stopping.ts";
import type { Clock } from "../clock.ts";
import { TransportError, type Answer, type Request } from "../exchange.ts";
import { createJournal, newScope } from "../evidence/journal.ts";
import { createSecrets } from "../../contract/secrets.ts";
import { retryAfterMs } from "./throttling.ts";
import { parseJson } from "../../contract/json.ts";
import { createRetries } from "./retry.ts";
import { createTransport, type Sender, type Transport } from "./transport.ts";
import { errorOf } from "../../testing/errors.ts";

const stopping = stopAfterEach();

/** A clock that notes what is slept and takes no time. */
const noted = (kind: Clock["kind"] = "virtual", mostMs = Infinity) => {
  const slept: number[] = [];
  const clock: Sender["clock"] = {
    kind,
    canWait: (durationMs) => durationMs <= mostMs,
    sleep: (durationMs) => Promise.resolve(void slept.push(durationMs)),
    sleepOnEither: (durationMs) => Promise.resolve(void slept.push(durationMs)),
  };
  return { clock, slept };
};

const open = async (
  origin: string,
  timeoutMs = 5_000,
): Promise<{ transport: Transport; sender: Sender; stop: () => Promise<void> }> => {
  const transport = createTransport({
    origin,
    journal: createJournal(createSecrets()),
    timeoutMs,
    startedAtMs: 0,
    maxConnections: 4,
    retries: createRetries(),
    learn: () => {},
  });
  const opened = {
    transport,
    sender: { scope: newScope("code.single-use"), clock: noted().clock },
    stop: () => transport.close(),
  };
  return stopping(Promise.resolve(opened));
};

const openTo = async (server: Promise<TestServer>, timeoutMs?: number) =>
  open((await stopping(server)).origin, timeoutMs);

const get = (path: string, headers: Request["headers"] = []): Request => ({ method: "GET", path, headers });

const problemOf = (sent: Promise<unknown>) => errorOf(sent, TransportError);

/** Answers every request on a connection with these bytes. */
const replying = (bytes: string, seen: string[] = []) =>
  serveTcp((socket) =>
    socket.on("data", (chunk) => {
      seen.push(chunk.toString("latin1"));
      socket.write(bytes);
    }),
  );

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

describe("what goes out", () => {
  it.each(["/a/../b?x=%zz", "/a//b/./c?%41=%61&&==", "/%2e%2e/x?q='\"|^`{}", "/?", "/x?a=b#c"])(
    "is the path %s byte for byte",
    async (path) => {
      const seen: string[] = [];
      const { origin } = await stopping(replying(ok, seen));
      const { transport, sender } = await open(origin);
      await transport.send(get(path), sender);
      expect(seen.join("").split("\r\n")[0]).toBe(`GET ${path} HTTP/1.1`);
    },
  );

  it("holds headers in their order, repeats and all", async () => {
    const seen: string[] = [];
    const { origin } = await stopping(replying(ok, seen));
    const { transport, sender } = await open(origin);
    await transport.send(
      get("/", [
        ["X-B", "1"],
        ["x-a", "2"],
        ["x-b", "3"],
      ]),
      sender,
    );
    const own = seen
      .join("")
      .split("\r\n")
      .filter((line) => /^x-/i.test(line));
    expect(own).toEqual(["X-B: 1", "x-a: 2", "x-b: 3"]);
  });

  it("goes out once, whatever becomes of it, where it may do something", async () => {
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

  it("offers no HTTP/2", async () => {
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
    // ALPN names stand in the first message of TLS as they are, each after its length.
    expect(await hello.promise).not.toContain("\u0002h2");
  });
});

describe("what comes back", () => {
  it("keeps the order of headers and repeats apart", async () => {
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

  it("is a redirect where the service sends one", async () => {
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

  it("is JSON where it is JSON", () => {
    expect([parseJson("{"), parseJson(""), parseJson("null"), parseJson("[1]")]).toEqual([
      undefined,
      undefined,
      null,
      [1],
    ]);
  });
});

describe("what does not come back", () => {
  it("is told apart: refused, closed, reset, half an answer, no HTTP", async () => {
    const reasonAt = async (origin: string): Promise<string> => {
      const { transport, sender } = await open(origin, 2_000);
      const problem = await problemOf(transport.send(get("/"), sender));
      expect(problem.message).not.toBe("");
      return problem.reason;
    };
    const onData = (react: (socket: Socket) => void) =>
      stopping(serveTcp((socket) => socket.once("data", () => react(socket))));
    expect(await reasonAt(await deadOrigin())).toBe("refused");
    expect(await reasonAt((await onData((socket) => socket.end())).origin)).toBe("closed");
    expect(await reasonAt((await onData((socket) => socket.resetAndDestroy())).origin)).toBe("closed");
    expect(
      await reasonAt(
        (await onData((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab"))).origin,
      ),
    ).toBe("closed");
    expect(await reasonAt((await onData((socket) => socket.end("SSH-2.0-OpenSSH\r\n"))).origin)).toBe(
      "protocol",
    );
    const plain = (await onData((socket) => socket.end("HTTP/1.1 400 Bad\r\n\r\n"))).origin;
    expect(await reasonAt(plain.replace("http:", "https:"))).toBe("protocol");
  });

  // Names are looked up by a few threads of the process, which look-ups of other tests may hold for long.
  it("is a name that resolves to two addresses that both refuse", async () => {
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
  ] as const)("is an answer %s", async (_, react) => {
    const { transport, sender } = await openTo(
      serveTcp((socket) => socket.once("data", () => react(socket))),
      100,
    );
    expect((await problemOf(transport.send(get("/"), sender))).reason).toBe("timeout");
    expect(transport.inFlight()).toBe(0);
  });

  it("is an answer without an end, of which no more than a bounded part is read", async () => {
    let sent = 0;
    const { transport, sender } = await openTo(
      serveHttp((_, response) => {
        const chunk = Buffer.alloc(256 * 1024, "x");
        const pour = (): void => {
          let hasRoom = true;
          while (hasRoom && !response.destroyed) {
            sent += chunk.length;
            hasRoom = response.write(chunk);
          }
          response.once("drain", pour);
        };
        pour();
      }),
    );
    expect((await problemOf(transport.send(get("/"), sender))).reason).toBe("too-large");
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });
});

describe("connections", () => {
  it("are reused, but for dedicated ones, which are all distinct", async () => {
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

  it("dedicated ones are cut with the transport, in the middle of a request", async () => {
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

const answer = (status: number, headers: Answer["headers"]): Answer => ({
  exchange: 1,
  status,
  headers,
  text: "",
  json: undefined,
});

describe("come back later", () => {
  const date = ["date", "Wed, 21 Oct 2026 07:28:00 GMT"] as const;

  it.each([
    [429, [["retry-after", "3"]], 3_000],
    [503, [["retry-after", "0"]], 0],
    [429, [["retry-after", "Wed, 21 Oct 2026 07:28:05 GMT"], date], 5_000],
    [429, [["retry-after", "Wed, 21 Oct 2026 07:27:00 GMT"], date], 0],
    [429, [["retry-after", "Wed, 21 Oct 2026 07:28:05 GMT"]], 1_000],
    [429, [["retry-after", "soon"], date], 1_000],
    [429, [["retry-after", "1.5"], date], 1_000],
    [429, [], undefined],
    [500, [["retry-after", "3"]], undefined],
    [200, [["retry-after", "3"]], undefined],
  ] as const)("is read off %s %j as %s ms", (status, headers, expected) => {
    expect(retryAfterMs(answer(status, headers))).toBe(expected);
  });

  /** Turns away so many requests before it answers. */
  const limiting = (times: number, headers: http.OutgoingHttpHeaders, seen: string[] = []) => {
    let left = times;
    return serveHttp((_, response, body) => {
      seen.push(body);
      if (left > 0) {
        left -= 1;
        response.writeHead(429, headers).end();
      } else response.end("{}");
    });
  };

  it("is obeyed on the target's clock, and the same request sent again", async () => {
    const seen: string[] = [];
    const { transport, sender } = await openTo(limiting(2, { "retry-after": "30" }, seen));
    const { clock, slept } = noted();
    const sent = await transport.send(
      { method: "POST", path: "/", headers: [], body: "once" },
      { ...sender, clock },
    );
    expect(sent.status).toBe(200);
    expect(slept).toEqual([30_000, 30_000]);
    expect(seen).toEqual(["once", "once", "once"]);
    expect(transport.address.health.report()).toMatchObject({ throttled: 2, longestThrottleMs: 30_000 });
    expect(sender.scope.exchanges.map(({ answer: one }) => one?.status)).toEqual([429, 429, 200]);
  });

  it("is no answer where it never ends, takes a day, or is longer than the run may wait", async () => {
    const { origin: always } = await stopping(limiting(Infinity, { "retry-after": "0" }));
    const { origin: days } = await stopping(limiting(Infinity, { "retry-after": "9999999999999999" }));
    const { origin: long } = await stopping(limiting(Infinity, { "retry-after": "40" }));
    for (const [origin, mostMs, expected] of [
      [always, Infinity, 59],
      [days, Infinity, 0],
      [long, 100_000, 2],
    ] as const) {
      const { transport, sender } = await open(origin);
      const { clock, slept } = noted("real", mostMs);
      const problem = await problemOf(transport.send(get("/"), { ...sender, clock }));
      expect(problem.reason).toBe("throttled");
      expect(slept).toHaveLength(expected);
    }
  });

  it("leaves nothing behind when the wait fails", async () => {
    const { transport, sender } = await openTo(limiting(9, { "retry-after": "1" }));
    const sleepOnEither = (): Promise<never> => Promise.reject(new Error("no clock"));
    const failing: Sender["clock"] = { ...noted().clock, sleepOnEither };
    for (let round = 0; round < 9; round += 1)
      await expect(transport.send(get("/"), { ...sender, clock: failing })).rejects.toThrow("no clock");
    expect(transport.inFlight()).toBe(0);
    expect((await transport.send(get("/"), sender)).status).toBe(200);
  });
});

it("takes an address of IPv6", async (context) => {
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
