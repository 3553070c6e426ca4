import http from "node:http";
import type { Socket } from "node:net";
import { Agent, getGlobalDispatcher } from "undici";
import { describe, expect, it } from "vitest";
import type { HookDefinition } from "../../contract/profile-fetched.ts";
import { hookNotes } from "../../engine/conform.ts";
import { manualTime } from "../time/testing/time.ts";
import { errorOf } from "../../testing/errors.ts";
import { listening, serveHttp, serveTcp } from "../../testing/servers.ts";
import { stopAfterEach } from "../../testing/stopping.ts";
import { keepingNone } from "../http/dialer.ts";
import { createHookCaller, type HookCallerOptions } from "./hook-caller.ts";
import { HookError } from "./hooks.ts";
import { createConnectionHealth } from "../http/connection-health.ts";
import { createRetries, type RetryOptions } from "../http/retry.ts";

const stopping = stopAfterEach();

/** A server of hooks that can be stopped and restarted at the same address. */
const restartable = async () => {
  const calls: string[] = [];
  const listen = (port?: number) =>
    listening(
      http.createServer((request, response) => {
        if (request.method !== "HEAD") calls.push(String(request.url));
        response.setHeader("connection", "close").end("{}");
      }),
      port,
    );
  let server = await listen();
  const { origin, port } = server;
  return {
    origin,
    calls,
    start: async (): Promise<void> => void (server = await listen(port)),
    stop: () => server.stop(),
  };
};

const hookAt = (origin: string): HookDefinition => ({ http: { url: `${origin}/hook`, body: {} } });

const open = (more: RetryOptions & Partial<Pick<HookCallerOptions, "target" | "unkept">> = {}) => {
  const time = manualTime();
  const retries = createRetries({ seed: 5, time, ...more });
  const health = createConnectionHealth(() => Promise.resolve(false), retries);
  const caller = createHookCaller({
    signal: new AbortController().signal,
    dispatcher: getGlobalDispatcher(),
    unkept: more.unkept ?? new Agent(keepingNone),
    target: more.target ?? { origin: "http://127.0.0.1:1", health },
    retries,
  });
  return { time, caller };
};

const failureOf = async (running: Promise<unknown>): Promise<string> =>
  (await errorOf(running, HookError)).message;

const all = ["clock.now", "callback.register", "clock.advance", "events.trigger", "authorize.code"] as const;

describe("the dispatcher of short-lived connections", () => {
  it.each(["clock.advance", "events.trigger", "authorize.code"])("is used for calls of %s", async (name) => {
    const seen = new Set<unknown>();
    const { origin } = await stopping(
      serveHttp((request, response) => {
        seen.add(request.socket);
        response.end("{}");
      }),
    );
    const { caller } = open();
    for (let call = 0; call < 3; call += 1) await caller.call(name, hookAt(origin), {});
    expect(seen.size).toBe(3);
  });
});

/** What a server does with a connection once it has answered on it. */
const endings: Readonly<Record<string, (socket: Socket) => void>> = {
  "closes at once": (socket) => void socket.end(),
  "closes after 100 ms": (socket) => void setTimeout(() => socket.end(), 100),
  "closes after 400 ms": (socket) => void setTimeout(() => socket.end(), 400),
  "resets at once": (socket) => void setImmediate(() => socket.resetAndDestroy()),
  "resets after 100 ms": (socket) => void setTimeout(() => socket.resetAndDestroy(), 100),
  "keeps it": () => undefined,
};
const heads = {
  "HTTP/1.1": "HTTP/1.1 200 OK\r\n",
  "HTTP/1.1 with Connection: close": "HTTP/1.1 200 OK\r\nConnection: close\r\n",
  "HTTP/1.0": "HTTP/1.0 200 OK\r\n",
};

describe("a call that must not be made twice", () => {
  const cases = Object.keys(endings).flatMap((ending) =>
    (Object.keys(heads) as (keyof typeof heads)[]).map((head) => [head, ending] as const),
  );
  it.concurrent.each(cases)("reaches a server once that speaks %s and %s", async (head, ending) => {
    const received: string[] = [];
    const server = await serveTcp((socket) =>
      socket.on("data", (bytes: Buffer) => {
        received.push(...(/"n":"(\d+)"/.exec(bytes.toString())?.slice(1) ?? []));
        socket.write(`${heads[head]}Content-Length: 2\r\n\r\n{}`);
        endings[ending]?.(socket);
      }),
    );
    const { caller } = open({ unkept: new Agent(keepingNone) });
    const hook: HookDefinition = { http: { url: `${server.origin}/hook`, body: { n: "{{n}}" } } };
    const made: string[] = [];
    const failed: string[] = [];
    // Pauses on both sides of each time after which a connection is closed, by the server or by the caller.
    for (const [n, pauseMs] of [0, 0, 95, 100, 105, 395, 400, 405, 495, 505, 0].entries()) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      made.push(String(n));
      await caller.call("events.trigger", hook, { n: String(n) }).catch((error: unknown) => {
        if (!(error instanceof HookError)) throw error;
        failed.push(String(n));
      });
    }
    await server.stop();
    expect(new Set(received).size).toBe(received.length);
    expect(made.filter((n) => !received.includes(n) && !failed.includes(n))).toEqual([]);
    const mayLose = ending.startsWith("resets");
    expect(mayLose ? [] : failed).toEqual([]);
  });
});

describe("a hook whose server is down", () => {
  it.each(all)("is called again when its server is back: %s", async (name) => {
    const server = await stopping(restartable());
    const time = manualTime();
    const { caller } = open({
      time: {
        ...time,
        pause: async (durationMs, signal) => {
          await time.pause(durationMs, signal);
          if (time.nowMs() > 20_000 && time.nowMs() - durationMs <= 20_000) await server.start();
        },
      },
    });
    await caller.call(name, hookAt(server.origin), {});
    await server.stop();
    await caller.call(name, hookAt(server.origin), {});
    expect(server.calls).toHaveLength(2);
    const { hooks, outages } = caller.report();
    expect(hooks).toEqual([expect.objectContaining({ lost: 1, madeAgain: 1 })]);
    expect(outages).toEqual([expect.objectContaining({ outages: 1, stayedAway: false })]);
    const notes = hookNotes(caller.report()).join("\n");
    expect(notes).toContain(`${hooks[0]?.key}: 1 call got no complete answer`);
    expect(notes).toMatch(
      /the hooks' address 127\.0\.0\.1:\d+ refused connections 1 time, for up to 2\d(\.\d+)? s/,
    );
  });

  /** A caller of hooks at the target's own address, which comes back once it is probed. */
  const openAtTarget = async () => {
    const server = await stopping(restartable());
    const time = manualTime();
    const probe = async (): Promise<boolean> => {
      await server.start();
      return true;
    };
    const health = createConnectionHealth(probe, createRetries({ time }));
    const { caller } = open({ time, target: { origin: server.origin, health } });
    return { server, health, caller };
  };

  it("shares the target's connection health if it runs at the target's address", async () => {
    const { server, health, caller } = await openAtTarget();
    await server.stop();
    // The server has not answered before.
    await failureOf(caller.call("clock.now", hookAt(server.origin), {}));
    health.answered(1);
    await caller.call("clock.now", hookAt(server.origin), {});
    expect(server.calls).toHaveLength(1);
    expect(caller.report().outages).toEqual([]);
  });

  it("waits for a target that no request has been sent to, once a hook was answered there", async () => {
    const { server, health, caller } = await openAtTarget();
    await caller.call("callback.register", hookAt(server.origin), {});
    await server.stop();
    await caller.call("clock.now", hookAt(server.origin), {});
    expect(server.calls).toHaveLength(2);
    expect(health.roundTripMs()).toBe(0);
    health.answered(40);
    expect(health.roundTripMs()).toBe(40);
  });
});

describe("a hook that closes the connection", () => {
  /** Closes the connection this many times before it answers. */
  const hangingUp = (times: number) => {
    const calls = { count: 0 };
    return stopping(
      serveHttp((request, response) => {
        calls.count += 1;
        if (calls.count <= times) request.socket.destroy();
        else response.end("{}");
      }).then((server) => ({ ...server, calls })),
    );
  };

  it.each(["clock.now", "callback.register"])(
    "is called up to three times if that is harmless: %s",
    async (name) => {
      const { origin, calls } = await hangingUp(2);
      const { caller } = open();
      await caller.call(name, hookAt(origin), {});
      expect(calls.count).toBe(3);
      expect(caller.report().hooks).toEqual([expect.objectContaining({ lost: 2, madeAgain: 2 })]);
      const { origin: always, calls: more } = await hangingUp(Infinity);
      await failureOf(caller.call(name, hookAt(always), {}));
      expect(more.count).toBe(3);
    },
  );

  it.each(["clock.advance", "events.trigger", "authorize.code"])(
    "is called once if it may have taken effect: %s",
    async (name) => {
      const { origin, calls } = await hangingUp(1);
      const { caller } = open();
      await failureOf(caller.call(name, hookAt(origin), {}));
      expect(calls.count).toBe(1);
      expect(hookNotes(caller.report()).join()).toMatch(/1 call got no complete answer.*: 0$/);
    },
  );
});

describe("a hook behind a gateway", () => {
  const inTurn = async (...answers: readonly (readonly [status: number, retryAfter?: string])[]) => {
    const left = [...answers];
    const calls = { count: 0 };
    const server = await stopping(
      serveHttp((_, response) => {
        calls.count += 1;
        const [status, retryAfter] = left.shift() ?? [200];
        response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end("{}");
      }),
    );
    return { origin: server.origin, calls };
  };

  it.each(all)("is called again after the Retry-After of 429 and 503: %s", async (name) => {
    const { origin, calls } = await inTurn([429, "7"], [503, "3"]);
    const { caller, time } = open();
    await caller.call(name, hookAt(origin), {});
    expect(calls.count).toBe(3);
    expect(time.pauses).toEqual([7_000, 3_000]);
    expect(hookNotes(caller.report()).join()).toContain("2 calls were asked to retry later");
  });
});

it("a command hook that fails is run once", async () => {
  const { caller } = open();
  const hook: HookDefinition = { command: [process.execPath, "-e", "process.exit(3)"] };
  expect(await failureOf(caller.call("clock.now", hook, {}))).toContain("hooks.clock.now");
  expect(hookNotes(caller.report())).toEqual([]);
});
