import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { ruleFor } from "../testing/seeded.ts";
import { behaviourFrom } from "../../fake-server/registry.ts";
import type { Verdict } from "../contract/verdict.ts";
import { judgeAll, type BenchOptions } from "../testing/bench.ts";

const open: Server[] = [];
afterAll(() => {
  for (const server of open) server.close();
});

/** An advance hook in front of the fake's that does not report what is in flight. */
const silentHook = async (): Promise<string> => {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      void (async () => {
        const target = new URL(request.url ?? "/", "http://none.invalid").searchParams.get("to") ?? "";
        const answer = await fetch(target, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: Buffer.concat(pieces),
        });
        const { now } = (await answer.json()) as { now: number };
        response.writeHead(answer.status, { "content-type": "application/json" });
        response.end(JSON.stringify({ now }));
      })();
    });
  });
  open.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Each stop of such a clock takes real time, and a short schedule has few. */
const limits = { pushDelaysMs: [30_000, 60_000], maxPushes: 3 };

const judged = async (behaviour: NonNullable<BenchOptions["behaviour"]>): Promise<readonly Verdict[]> => {
  const hook = await silentHook();
  const results = await judgeAll([ruleFor("push.schedule"), ruleFor("push.independent-schedules")], {
    behaviour,
    limits,
    stopAtBreach: true,
    profile: (profile) => {
      const advance = profile.hooks?.clock?.advance;
      if (advance === undefined || !("http" in advance)) throw new Error("the fake has an advance hook");
      const url = `${hook}/?to=${encodeURIComponent(advance.http.url)}`;
      return {
        ...profile,
        hooks: {
          ...profile.hooks,
          clock: { ...profile.hooks?.clock, advance: { ...advance, http: { ...advance.http, url } } },
        },
      };
    },
  });
  return results.map(({ verdict }) => verdict);
};

const noticedEvery = (periodMs: number) =>
  behaviourFrom("polling", {
    summary: "A worker polls for due retries.",
    replaces: () => ({
      pushNoticedMs: (dueMs, attempt) =>
        attempt === 1 ? dueMs : Math.ceil((dueMs + 1) / periodMs) * periodMs,
    }),
  });

describe("with an advance hook that does not say whether anything is in flight", () => {
  it("conforming senders raise no alarm, and early pushes are still seen", async () => {
    const [five, thirty, early] = await Promise.all(
      [noticedEvery(5_000), noticedEvery(30_000), "push-jitter-slightly-early"].map(judged),
    );
    expect(five?.map(({ kind }) => kind)).toEqual(["passed", "passed"]);
    expect(thirty?.[0]).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringContaining("ticks of one clock"),
      settle: expect.stringContaining("tolerances.latenessMs"),
    });
    expect(thirty?.[1]).toMatchObject({ kind: "passed" });
    expect(early?.[0]).toMatchObject({ kind: "failed" });
  });
});
