import { describe, expect, it } from "vitest";
import { ruleFor } from "../testing/seeded.ts";
import { behaviourFrom } from "../../fake-server/registry.ts";
import type { Verdict } from "../contract/verdict.ts";
import { briefSchedule, judgeAll, type BenchOptions } from "../testing/judge.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";

const stopping = stopAfterEach();

/** An advance hook in front of the fake's that does not report what is in flight. */
const silentHook = async (): Promise<string> => {
  const { origin } = await stopping(
    serveHttp((request, response, body) => {
      const to = new URL(request.url ?? "/", "http://none.invalid").searchParams.get("to") ?? "";
      void (async () => {
        const headers = { "content-type": "application/json" };
        const answer = await fetch(to, { method: "POST", headers, body });
        const { now } = (await answer.json()) as { now: number };
        response.writeHead(answer.status, headers).end(JSON.stringify({ now }));
      })();
    }),
  );
  return origin;
};

const judged = async (behaviour: NonNullable<BenchOptions["behaviour"]>): Promise<readonly Verdict[]> => {
  const hook = await silentHook();
  const results = await judgeAll([ruleFor("push.schedule"), ruleFor("push.independent-schedules")], {
    behaviour,
    // Each stop of such a clock takes real time.
    limits: briefSchedule,
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

/** Sequential: each stop takes real time, and on a busy machine delays the others. */
describe("with an advance hook that does not say whether anything is in flight", () => {
  it("a sender that polls every second passes", async () => {
    expect(await judged(noticedEvery(1_000))).toMatchObject([{ kind: "passed" }, { kind: "passed" }]);
  });

  it("a sender that polls every thirty seconds is inconclusive rather than late", async () => {
    expect(await judged(noticedEvery(30_000))).toMatchObject([
      {
        kind: "inconclusive",
        reason: expect.stringContaining("as if the sender looks for due pushes every"),
        settle: expect.stringContaining("tolerances.latenessMs"),
      },
      { kind: "passed" },
    ]);
  });

  it("early pushes still fail", async () => {
    expect(await judged("push-jitter-slightly-early")).toMatchObject([{ kind: "failed" }, {}]);
  });
});
