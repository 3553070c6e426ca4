import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { runOptions, startFake } from "../testing/fake.ts";
import { ruleFor } from "../testing/seeded.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { conform } from "./conform.ts";

const stopping = stopAfterEach();

it("the model agrees with a service whose hook returns the ids of jobs, and the run notes that", async () => {
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
  const resolved = await fake.resolved(({ hooks }) => ({
    hooks: { ...hooks, events: { trigger: { http: { url: hook.origin, body } } } },
  }));
  const { results, notes } = await conform({
    ...runOptions(),
    resolved,
    rules: [ruleFor("lifecycle.model")],
  });
  expect(results.map(({ verdict }) => verdict.kind)).toEqual(["passed"]);
  expect(notes.join("\n")).toContain(
    "hooks.events.trigger returns ids of something other than notifications",
  );
});
