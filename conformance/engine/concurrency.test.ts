import { describe, expect, it } from "vitest";
import { requirementIds } from "../contract/catalogue.ts";
import type { Profile } from "../contract/profile.ts";
import { runRules } from "./executor.ts";
import { pass } from "../judging/case-verdict.ts";
import type { Rule } from "../checks/rule.ts";
import { emptyPrepared } from "../world/prepared.ts";
import { openSession } from "../session/session.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { newScope } from "../world/evidence/journal.ts";

const stopping = stopAfterEach();

/** Counts how many are inside at a time, and the most that ever were. */
const counter = () => {
  const seen = { now: 0, most: 0 };
  return {
    seen,
    enter: () => {
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
    },
    leave: () => {
      seen.now -= 1;
    },
  };
};

const sessionWith = async (profile: Partial<Profile>) => {
  const fake = await stopping(startFake());
  const session = openSession(await fake.resolved(profile), runOptions());
  await stopping(Promise.resolve({ stop: () => session.close() }));
  return session;
};

describe("how much a run does at a time", () => {
  it.each([
    [{ maxConnections: 3 }, 3],
    [{}, 20],
  ])("with %j it has so many requests under way: %i of twenty", async (concurrency, most) => {
    const requests = counter();
    const { origin } = await stopping(
      serveHttp((_, response) => {
        requests.enter();
        setTimeout(() => {
          requests.leave();
          response.end("{}");
        }, 30);
      }),
    );
    const session = await sessionWith({ baseUrl: origin, concurrency });
    const world = session.world(newScope("code.unknown"), session.clocks.join(), emptyPrepared);
    await Promise.all(Array.from({ length: 20 }, () => world.target.list({})));
    expect(requests.seen.most).toBe(most);
  });

  it.each([
    [{ maxCases: 2 }, 2],
    [{}, 12],
  ])("with %j it has so many cases at work: %i of twelve", async (concurrency, most) => {
    const cases = counter();
    const rules = requirementIds
      .filter((id) => id.startsWith("code.") || id.startsWith("exchange."))
      .slice(0, 12)
      .map((requirement): Rule => ({
        requirement: requirement as Rule["requirement"],
        check: (_, run) =>
          run.once(async (world) => {
            cases.enter();
            await world.target.list({});
            cases.leave();
            return { judgement: pass };
          }),
      }));
    const session = await sessionWith({ concurrency });
    const results = await runRules(session, emptyPrepared, { rules, effort: "quick", seed: 1 });
    expect(results.map(({ verdict }) => verdict.kind)).toEqual(rules.map(() => "passed"));
    expect(cases.seen.most).toBe(most);
  });
});
