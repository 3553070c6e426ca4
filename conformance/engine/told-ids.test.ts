import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { Profile } from "../contract/profile.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { ruleFor } from "../testing/seeded.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { conform } from "./conform.ts";

const stopping = stopAfterEach();

/** Judges the sound fake, whose trigger hook answers with the UUID of a job. */
const judgeTelling = async (
  only: readonly Parameters<typeof ruleFor>[0][],
  trigger: { readonly result?: string } = {},
) => {
  const fake = await stopping(startFake());
  const hook = await stopping(
    serveHttp((_request, response, body) => {
      const headers = { "content-type": "application/json" };
      void fetch(`${fake.server.controlUrl}/events`, { method: "POST", headers, body }).then(() =>
        response.writeHead(202, headers).end(JSON.stringify({ id: randomUUID() })),
      );
    }),
  );
  const body = { accountId: "{{accountId}}", clientId: "{{clientId}}" };
  const resolved = await fake.resolved(({ hooks }: Profile) => ({
    hooks: { ...hooks, events: { trigger: { http: { url: hook.origin, body }, ...trigger } } },
  }));
  const { results, notes } = await conform({ ...runOptions(), resolved, rules: only.map(ruleFor) });
  return { verdicts: results.map(({ verdict }) => verdict.kind), notes: notes.join("\n") };
};

const NOTE = "hooks.events.trigger returns ids of something other than notifications";

it("the model agrees with a service whose hook returns the ids of jobs, and the run notes that", async () => {
  const { verdicts, notes } = await judgeTelling(["lifecycle.model"]);
  expect(verdicts).toEqual(["passed"]);
  expect(notes).toContain(NOTE);
});

it("ids whose place the profile names are those of notifications, so a list that shows others breaks a rule", async () => {
  const { verdicts, notes } = await judgeTelling(["notifications.filter-id"], { result: "/id" });
  expect(verdicts).toEqual(["failed"]);
  expect(notes).not.toContain(NOTE);
});
