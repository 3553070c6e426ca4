import { describe, expect, it } from "vitest";
import { requirementIds } from "../contract/catalogue.ts";
import type { Profile } from "../contract/profile.ts";
import { runRules } from "./executor.ts";
import { pass } from "../judging/case-verdict.ts";
import type { Rule } from "../checks/rule.ts";
import { emptyPrepared } from "../world/world.ts";
import { openSession } from "../session/session.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { newScope } from "../world/evidence/journal.ts";

const stopping = stopAfterEach();

/** Blocks callers until this many are waiting, and a little longer in case more come; records the maximum. */
const barrierOf = (size: number) => {
  const inside: (() => void)[] = [];
  let most = 0;
  return {
    most: () => most,
    enter: () =>
      new Promise<void>((leave) => {
        most = Math.max(most, inside.push(leave));
        if (inside.length !== size) return;
        setTimeout(() => {
          for (const one of inside.splice(0)) one();
        }, 30);
      }),
  };
};

const sessionWith = async (profile: Partial<Profile>) => {
  const fake = await stopping(startFake());
  const session = openSession(await fake.resolved(profile), runOptions());
  await stopping({ stop: () => session.close() });
  return session;
};

describe("the concurrency of a run", () => {
  it.each([
    [{ maxConnections: 3 }, 3],
    [{}, 18],
  ])("%j allows %i of 18 requests at once", async (concurrency, most) => {
    const requests = barrierOf(most);
    const { origin } = await stopping(
      serveHttp((_, response) => void requests.enter().then(() => response.end("{}"))),
    );
    const session = await sessionWith({ baseUrl: origin, concurrency });
    const world = session.world(newScope("code.unknown"), session.clocks.join(), emptyPrepared);
    await Promise.all(Array.from({ length: 18 }, () => world.target.list({})));
    expect(requests.most()).toBe(most);
  });

  it.each([
    [{ maxCases: 2 }, 2],
    [{}, 12],
  ])("%j allows %i of 12 cases at once", async (concurrency, most) => {
    const cases = barrierOf(most);
    const rules = requirementIds
      .filter((id) => id.startsWith("code.") || id.startsWith("exchange."))
      .slice(0, 12)
      .map((requirement): Rule => ({
        requirement: requirement as Rule["requirement"],
        check: (_, run) =>
          run.once(async (world) => {
            await world.target.list({});
            await cases.enter();
            return pass;
          }),
      }));
    const session = await sessionWith({ concurrency });
    const results = await runRules(session, emptyPrepared, { rules, effort: "quick", seed: 1 });
    expect(results.map(({ verdict }) => verdict.kind)).toEqual(rules.map(() => "passed"));
    expect(cases.most()).toBe(most);
  });
});
