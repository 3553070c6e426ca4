import { describe, expect, it } from "vitest";
import type { Verdict } from "../contract/verdict.ts";
import { judgeCap } from "../judging/pushes/cap.ts";
import { judgeDelivered } from "../judging/pushes/delivery.ts";
import type { Finding } from "../judging/pushes/finding.ts";
import { judgeRetries } from "../judging/pushes/retries.ts";
import { judgeSchedule } from "../judging/pushes/schedule.ts";
import type { Cut, PushRun } from "../judging/pushes/trace.ts";
import { judgeAll } from "../testing/judge.ts";
import { pushRunOf, senderOf, type Sender } from "../testing/push-runs.ts";
import { ruleFor } from "../testing/seeded.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { unlessUnfinished } from "./verdicts.ts";

const stopping = stopAfterEach();

/** What is seen of a sender until this moment. */
const cutAt = (untilMs: number, cut: Omit<Cut, "unplayed">, sender: Sender = senderOf("R1")): PushRun => {
  const run = pushRunOf(sender);
  const isPlayed = ({ triggered }: PushRun["pushCases"][number]): boolean => triggered.latestMs <= untilMs;
  return {
    ...run,
    cut: { ...cut, unplayed: run.pushCases.filter((one) => !isPlayed(one)) },
    pushCases: run.pushCases
      .filter(isPlayed)
      .map((one) => ({ ...one, pushes: one.pushes.filter(({ at }) => at.latestMs <= untilMs) })),
    watchedUntil: { earliestMs: untilMs, latestMs: untilMs },
  };
};

const judged = (rule: string, judge: (run: PushRun) => Finding, run: PushRun): Verdict => {
  const { judgement, cases } = judge(run);
  const verdict = (
    judgement.kind === "failed" ? { kind: "failed", breach: {}, cases } : { ...judgement, cases }
  ) as Verdict;
  return unlessUnfinished(verdict, rule, run);
};

describe("a push run that is interrupted", () => {
  const atTwoThirds = cutAt(640_000, { by: "interruption" });

  it("has verdicts of the rules whose notifications were over", () => {
    expect(judged("push.delivered", judgeDelivered, atTwoThirds).kind).toBe("passed");
    const early = judged("push.delivered", judgeDelivered, cutAt(100_000, { by: "interruption" }));
    expect(early).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringMatching(
        /^the run was interrupted before all pushes of ".*" and \d+ more notifications were over$/,
      ),
    });
  });

  it("leaves those inconclusive that need pushes without an answer, which were not played", () => {
    for (const [rule, judge] of [
      ["push.schedule", judgeSchedule],
      ["push.cap", judgeCap],
      ["push.unacknowledged-retries", judgeRetries],
    ] as const)
      expect(judged(rule, judge, atTwoThirds).kind).toBe("inconclusive");
  });

  it("keeps a breach", () => {
    const early = cutAt(100_000, { by: "interruption" }, { instantsMs: () => [0, 10_000] });
    expect(judged("push.schedule", judgeSchedule, early).kind).toBe("failed");
  });
});

describe("a push run that ends by --max-wait", () => {
  it("says so, and how long it would have to be", () => {
    const cut = {
      by: "max-wait",
      why: "watching ended after 5 min (--max-wait)",
      settle: "--max-wait 17m",
    } as const;
    expect(judged("push.delivered", judgeDelivered, cutAt(300_000, cut))).toMatchObject({
      reason: expect.stringContaining("watching ended after 5 min (--max-wait) before all pushes of"),
      settle: "--max-wait 17m",
    });
  });
});

/** A hook in front of the fake's that works so many times. */
const hookFor = async (times: number): Promise<string> => {
  let calls = 0;
  const { origin } = await stopping(
    serveHttp((request, response, body) => {
      calls += 1;
      const to = new URL(request.url ?? "/", "http://none.invalid").searchParams.get("to") ?? "";
      const forward = async (): Promise<void> => {
        const headers = { "content-type": "application/json" };
        const answer = await fetch(to, { method: "POST", headers, body });
        response.writeHead(answer.status, headers).end(await answer.text());
      };
      if (calls > times) response.writeHead(500).end("{}");
      else void forward();
    }),
  );
  return origin;
};

it("what was judged is kept if the hook that triggers events fails in the middle", async () => {
  const hook = await hookFor(100);
  const results = await judgeAll([ruleFor("push.payload"), ruleFor("push.cap")], {
    behaviour: "push-payload-create-time-in-ms",
    profile: (profile) => {
      const trigger = profile.hooks?.events?.trigger;
      if (trigger === undefined || !("http" in trigger)) throw new Error("the fake has a hook for events");
      const url = `${hook}/?to=${encodeURIComponent(trigger.http.url)}`;
      const events = { trigger: { ...trigger, http: { ...trigger.http, url } } };
      return { ...profile, hooks: { ...profile.hooks, events } };
    },
  });
  expect(results.map(({ verdict }) => verdict.kind)).toEqual(["failed", "inconclusive"]);
  expect(results[1]?.verdict).toMatchObject({ reason: expect.stringContaining("hooks.events.trigger") });
});
