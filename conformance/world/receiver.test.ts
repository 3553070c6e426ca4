import { describe, expect, it } from "vitest";
import { LONGEST_SILENCE_MS, runHeader } from "../contract/push.ts";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { serveHttp, type TestServer } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { openReceiver } from "./receiver.ts";

const stopping = stopAfterEach();

const never = new AbortController().signal;

const answering = (status: number, body: string): Promise<TestServer> =>
  stopping(
    serveHttp((_request, response) => {
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    }),
  );

describe("the client of a receiver", () => {
  it("sets plan and listener, and reads pushes", async () => {
    const running = await stopping(startReceiver({ scheme: "http" }));
    const receiver = openReceiver(running, never);
    const { callbackUrl, epoch, last, listening } = await receiver.state();
    expect([callbackUrl, listening]).toEqual([running.callbackUrl, true]);
    await receiver.plan({ rules: [], otherwise: { kind: "answer", status: 503 } });
    const waiting = receiver.pushes({ epoch, last }, 20_000);
    const answer = await fetch(callbackUrl, {
      method: "POST",
      body: '{"id":"one"}',
      headers: { "content-type": "application/json" },
    });
    expect(answer.status).toBe(503);
    const [push] = await waiting;
    expect(push).toMatchObject({ kind: "push", notificationId: "one", status: 503, attempt: 1 });
    const closed = await receiver.listener("closed");
    expect(closed.last).toBe((push?.n ?? 0) + 2);
    await expect(fetch(callbackUrl, { method: "POST" })).rejects.toThrow("fetch failed");
    await receiver.listener("open");
    expect((await receiver.state()).listening).toBe(true);
    await receiver.clear();
  });

  it("uses it alone until it leaves", async () => {
    const running = await stopping(startReceiver({ scheme: "http" }));
    const [one, other] = ["one", "other"].map((run) => openReceiver({ ...running, run }, never));
    const { epoch = "" } = (await one?.plan({ rules: [] })) ?? {};
    for (const change of [
      other?.plan({ rules: [] }),
      other?.clear(),
      other?.listener("closed"),
      other?.certificate("untrusted"),
    ])
      await expect(change).rejects.toMatchObject({
        message: expect.stringMatching(/^the receiver: another run uses it, which last called .* ago$/),
        remedy: expect.stringContaining("one run at a time"),
      });
    await other?.leave();
    await expect(other?.state()).rejects.toThrow("another run uses it");
    expect(await one?.pushes({ epoch, last: 0 })).not.toContainEqual(
      expect.objectContaining({ kind: "cleared" }),
    );
    await one?.leave();
    expect(await other?.state()).toMatchObject({ listening: true });
    // Calls by hand name no run.
    await openReceiver(running, never).clear();
  });

  it("calls at intervals from its first call until it leaves, so that it is not taken for dead", async () => {
    const seen: (string | undefined)[] = [];
    const { origin } = await stopping(
      serveHttp(({ method, url, headers }, response) => {
        seen.push(`${method} ${url} ${String(headers[runHeader])}`);
        response.end("{}");
      }),
    );
    let passes = (): void => {};
    const repeated: number[] = [];
    const repeat = (intervalMs: number, callback: () => void) => {
      repeated.push(intervalMs);
      passes = callback;
      return { cancel: () => (passes = () => {}) };
    };
    const receiver = openReceiver({ controlUrl: origin, run: "one" }, never, undefined, repeat);
    await receiver.leave();
    expect([seen, repeated]).toEqual([[], []]);
    await receiver.clear();
    await receiver.endHangs();
    expect(repeated).toEqual([LONGEST_SILENCE_MS / 3]);
    passes();
    // What was begun before arrives before it leaves.
    await receiver.leave();
    passes();
    await receiver.leave();
    expect(seen).toEqual(["POST /clear one", "DELETE /hangs one", "GET /state one", "DELETE /use one"]);
  });

  it("reads nothing from a receiver that was restarted, which may count its lines from one again", async () => {
    const first = await stopping(startReceiver({ scheme: "http" }));
    const mark = await openReceiver(first, never).plan({ rules: [] });
    await first.stop();
    const again = openReceiver(await stopping(startReceiver({ scheme: "http" })), never);
    expect((await again.state()).last).toBe(mark.last);
    for (const last of [0, mark.last, mark.last + 100])
      await expect(again.pushes({ ...mark, last })).rejects.toThrow(
        "the receiver: it was restarted while its pushes were watched",
      );
  });

  it("leaves without a failure, also where it was interrupted or nothing answers", async () => {
    const running = await stopping(startReceiver({ scheme: "http" }));
    const interruption = new AbortController();
    const interrupted = openReceiver({ ...running, run: "one" }, interruption.signal);
    await interrupted.clear();
    interruption.abort();
    await interrupted.leave();
    await openReceiver({ ...running, run: "other" }, never).clear();
    const away = openReceiver({ controlUrl: "http://127.0.0.1:1", run: "one" }, never);
    await expect(away.clear()).rejects.toThrow(/gave no answer/);
    await away.leave();
  });

  it("reports a wrong or missing token with its key in the profile", async () => {
    const { origin } = await answering(401, "{}");
    await expect(openReceiver({ controlUrl: origin, token: "wrong" }, never).state()).rejects.toThrow(
      /refuses the token of receiver\.attach\.token/,
    );
    await expect(openReceiver({ controlUrl: origin }, never).state()).rejects.toThrow(
      /requires a token.*no receiver\.attach\.token/,
    );
  });

  it("reports a receiver of an older version, which does not state when a change took effect", async () => {
    const { origin } = await answering(200, '{"state":"closed"}');
    const older = openReceiver({ controlUrl: origin }, never);
    await expect(older.listener("closed")).rejects.toThrow(/older version/);
    await expect(older.pushes({ epoch: "e", last: 0 })).rejects.toThrow(/older version/);
  });

  it("reports why a receiver refused or did not answer", async () => {
    const { origin } = await answering(400, '{"error":"rules: unknown action"}');
    await expect(openReceiver({ controlUrl: origin }, never).plan({ rules: [] })).rejects.toThrow(
      /status 400.*unknown action/,
    );
    await expect(openReceiver({ controlUrl: "http://127.0.0.1:1" }, never).state()).rejects.toThrow(
      /gave no answer/,
    );
  });
});
