import { expect, test } from "vitest";
import { judge, judgeAll, type BenchOptions } from "../testing/judge.ts";
import { behaving, ruleFor } from "../testing/seeded.ts";

test("malformed lists prove nothing if their accessToken stops working on the way", async () => {
  const judged = [ruleFor("service.survives-bad-input"), ruleFor("service.leaks-nothing")];
  const behaviour = behaving((sound) => {
    const uses = new Map<object, number>();
    return {
      accessTokenIsAlive: (record, context) => {
        const count = (uses.get(record) ?? 0) + 1;
        uses.set(record, count);
        return count <= 10 && sound.accessTokenIsAlive(record, context);
      },
    };
  });
  const verdict = {
    kind: "inconclusive",
    reason: expect.stringContaining("after the malformed input, the accessToken of its lists") as string,
  };
  expect(await judgeAll(judged, { behaviour, effort: "standard" })).toMatchObject([{ verdict }, { verdict }]);
});

const briefly: BenchOptions["profile"] = (profile) => ({
  ...profile,
  tolerances: { requestTimeoutMs: 1_000 },
});

test("malformed input that hangs behind a valid request on its connection is detected", async () => {
  const verdict = await judge(ruleFor("service.survives-bad-input"), {
    behaviour: "advice-second-request-hangs",
    profile: briefly,
  });
  expect(verdict).toMatchObject({
    kind: "warned",
    breach: {
      part: "behind valid requests",
      actual: expect.stringContaining("right behind a valid request on its connection") as string,
      reproduction: { replayed: { failures: 1, attempts: 1 } },
    },
  });
});

test("a service is not blamed for closing a connection instead of answering malformed input on it", async () => {
  const behaviour = behaving((sound) => {
    const used = new WeakSet<object>();
    return {
      finish: (answer, context) => {
        const { socket, url = "" } = context.from;
        if (used.has(socket) && /["<>]/.test(url)) socket.destroy();
        used.add(socket);
        return sound.finish(answer, context);
      },
    };
  });
  expect((await judge(ruleFor("service.survives-bad-input"), { behaviour })).kind).toBe("passed");
});

test.each(["", "/app", "/srv/shop/api"])("an address below %j is no internal path", async (basePath) => {
  const behaviour = behaving((sound) => ({
    pathsOf: (operation) => sound.pathsOf(operation).map((path) => `${basePath}${path}`),
    renderRefusal: ({ kind }, { from }) => ({
      status: 400,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ error: kind, path: from.url?.split("?")[0] }),
    }),
  }));
  const profile: BenchOptions["profile"] = (own) => ({ ...own, baseUrl: `${own.baseUrl}${basePath}` });
  expect((await judge(ruleFor("service.leaks-nothing"), { behaviour, profile })).kind).toBe("passed");
});
