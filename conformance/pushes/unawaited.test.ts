import { expect, it } from "vitest";
import { behaviourFrom } from "../../fake-server/registry.ts";
import { judgeAll } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";
import { serveHttp } from "../testing/servers.ts";

/** An advance hook in front of the fake's that does not report what is in flight. */
const silentHook = () =>
  serveHttp((request, response, body) => {
    const to = new URL(request.url ?? "/", "http://none.invalid").searchParams.get("to") ?? "";
    void (async () => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(to, { method: "POST", headers, body });
      const { now } = (await answer.json()) as { now: number };
      response.writeHead(answer.status, headers).end(JSON.stringify({ now }));
    })();
  });

const noticedEachSecond = behaviourFrom("polling", {
  summary: "A worker polls for due retries.",
  replaces: () => ({
    pushNoticedMs: (dueMs, attempt) => (attempt === 1 ? dueMs : Math.ceil((dueMs + 1) / 1_000) * 1_000),
  }),
});

// What such a run shows of early and late pushes is judged on traces.
it("a sender that polls every second passes with an advance hook that does not say what is in flight", async () => {
  await using hook = await silentHook();
  const results = await judgeAll([ruleFor("push.schedule"), ruleFor("push.independent-schedules")], {
    behaviour: noticedEachSecond,
    // Each stop of such a clock takes real time.
    limits: { pushDelaysMs: [30_000], maxPushes: 2 },
    profile: (profile) => {
      const advance = profile.hooks?.clock?.advance;
      if (advance === undefined || !("http" in advance)) throw new Error("the fake has an advance hook");
      const url = `${hook.origin}/?to=${encodeURIComponent(advance.http.url)}`;
      const clock = { ...profile.hooks?.clock, advance: { ...advance, http: { ...advance.http, url } } };
      return { ...profile, hooks: { ...profile.hooks, clock } };
    },
  });
  expect(results.map(({ verdict }) => verdict.kind)).toEqual(["passed", "passed"]);
});
