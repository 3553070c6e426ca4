import { expect, it } from "vitest";
import { runRules } from "../../engine/executor.ts";
import { openSession } from "../../session/session.ts";
import { preflight } from "../../session/preflight.ts";
import { runOptions, startFake } from "../../testing/fake.ts";
import { ruleFor } from "../../testing/seeded.ts";
import { stopAfterEach } from "../../testing/stopping.ts";

const stopping = stopAfterEach();

it("rules that wait for as long as they can say why the clock is not moved", async () => {
  const fake = await stopping(startFake());
  const session = openSession(await fake.resolved({}), runOptions());
  await stopping({ stop: () => session.close() });
  const { prepared } = await preflight(session, { notifications: true });
  session.clocks.distrust?.("the clock was not seen to move; read the guide", 60_000);
  const rules = [ruleFor("refresh.reusable"), ruleFor("lifecycle.model")];
  const results = await runRules(session, prepared, { rules, effort: "quick", seed: 1, stopAtBreach: false });
  for (const { verdict } of results) {
    expect(verdict).toMatchObject({ kind: "could-not-run", missing: "clock.now" });
    expect(verdict).toMatchObject({
      reason: expect.stringMatching(/; the clock was not seen to move; read the guide$/),
    });
  }
  expect(results).toHaveLength(2);
});
