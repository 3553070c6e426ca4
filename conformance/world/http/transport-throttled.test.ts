import http from "node:http";
import { describe, expect, it } from "vitest";
import { serveHttp, serveTcp } from "../../testing/servers.ts";
import { manualTime } from "../time/testing/time.ts";
import { retryAfterMs } from "./throttling.ts";
import type { Sender } from "./transport.ts";
import { noted, open, openTo, get, stopping } from "./testing/open-transport.ts";

describe("Retry-After", () => {
  const date = ["date", "Wed, 21 Oct 2026 07:28:00 GMT"] as const;

  it.each([
    [429, [["retry-after", "3"]], 3_000],
    [503, [["retry-after", "0"]], 0],
    [429, [["retry-after", "Wed, 21 Oct 2026 07:28:05 GMT"], date], 5_000],
    [429, [["retry-after", "Wed, 21 Oct 2026 07:27:00 GMT"], date], 0],
    [429, [["retry-after", "Wed, 21 Oct 2026 07:28:05 GMT"]], 1_000],
    [429, [["retry-after", "Wed, 21 Oct 2020 07:28:05 GMT"], date], 1_000],
    [429, [["retry-after", "soon"], date], 1_000],
    [429, [["retry-after", "1.5"], date], 1_000],
    [429, [], undefined],
    [500, [["retry-after", "3"]], undefined],
    [200, [["retry-after", "3"]], undefined],
  ] as const)("is read from status %s and headers %j as %s ms", (status, headers, expected) => {
    expect(retryAfterMs({ status, headers })).toBe(expected);
  });

  /** Throttles this many requests before it answers. */
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

  it("is waited for on the target's clock, then the same request is sent again", async () => {
    const seen: string[] = [];
    const { transport, sender } = await openTo(limiting(2, { "retry-after": "30" }, seen));
    const { clock, slept } = noted("real");
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

  it("leaves no request in flight when the wait fails", async () => {
    const { origin } = await stopping(limiting(9, { "retry-after": "1" }));
    const { transport, sender } = await open(origin, undefined, manualTime());
    const sleepAsAsked = (): Promise<never> => Promise.reject(new Error("no clock"));
    const failing: Sender["clock"] = { ...noted().clock, sleepAsAsked };
    for (let round = 0; round < 9; round += 1)
      await expect(transport.send(get("/"), { ...sender, clock: failing })).rejects.toThrow("no clock");
    expect(transport.inFlight()).toBe(0);
    expect((await transport.send(get("/"), sender)).status).toBe(200);
  });
});

describe("connections that are closed without an answer", () => {
  /** Serves only every so manieth request. */
  const closing = (servedEach: number) => {
    let received = 0;
    return serveTcp((socket) =>
      socket
        .on("error", () => undefined)
        .once("data", () =>
          (received += 1) % servedEach === 0
            ? socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            : socket.destroy(),
        ),
    );
  };

  it.each([
    [2, ["closed connections"]],
    [Infinity, []],
  ])(
    "are a limiter's if what is sent again is served: each %ith request",
    async (servedEach, turnedAwayWith) => {
      const { transport, sender } = await openTo(closing(servedEach));
      for (let sent = 0; sent < 2; sent += 1) await transport.send(get("/"), sender).catch(() => undefined);
      expect(transport.address.pacer.report().turnedAwayWith).toEqual(turnedAwayWith);
    },
  );
});
