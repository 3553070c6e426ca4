import { expect, it } from "vitest";
import { createEvents } from "./events.ts";

it("tells the hook whom an event concerns, and counts those of the first client", async () => {
  const concerned: string[] = [];
  const events = createEvents({
    accounts: undefined,
    clientId: "first",
    freshUuid: () => "account",
    runHook: ({ clientId }) => {
      concerned.push(clientId);
      return Promise.resolve(undefined);
    },
  });
  await events.trigger("account");
  await events.trigger("account", "second");
  expect(concerned).toEqual(["first", "second"]);
  expect(events.acknowledged()).toBe(1);
});
