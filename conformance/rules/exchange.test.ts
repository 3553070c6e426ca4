import { expect, test } from "vitest";
import { judge, judgeAll } from "../testing/judge.ts";
import { behaving, ruleFor } from "../testing/seeded.ts";

test("repeated fields say nothing where the wrong value alone is accepted", async () => {
  const verdict = await judge(ruleFor("exchange.bad-bodies"), {
    behaviour: "json-read-leniently+secret-by-its-first-eight",
  });
  expect(verdict).toMatchObject({
    kind: "inconclusive",
    reason: expect.stringContaining("a wrong clientSecret is accepted even if it is not repeated") as string,
  });
});

test("a service may take the secret under another name as well", async () => {
  const behaviour = behaving((sound) => ({
    readBody: (raw, context) => {
      const body = sound.readBody(raw, context);
      return body === undefined
        ? undefined
        : { clientSecret: body["client_secret"] ?? body["secret"], ...body };
    },
  }));
  const verdict = await judge(ruleFor("exchange.authenticates-client"), { behaviour });
  expect(verdict).toMatchObject({ kind: "passed" });
});

test("a token of a wrong exchange is not taken for refused where no token is shown the list", async () => {
  const some = [ruleFor("exchange.authenticates-client"), ruleFor("notifications.shape")];
  const results = await judgeAll(some, { behaviour: "secret-ignored+list-one-item-unwrapped" });
  expect(results.map(({ id, verdict }) => [id, verdict.kind])).toEqual([
    ["exchange.authenticates-client", "inconclusive"],
    ["notifications.shape", "failed"],
  ]);
});

/** The clients by UUID, as a column of that type reads it (RFC 9562 section 4). */
const readingUuids = behaving((sound) => {
  const read = (id: unknown) => {
    const digits = String(id).toLowerCase().replaceAll(/[{}-]/g, "");
    return typeof id === "string" && /^[\da-f]{32}$/.test(digits)
      ? digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
      : id;
  };
  return {
    authenticateClient: (id, ...more) => sound.authenticateClient(read(id), ...more),
    findClientToRefresh: (id, ...more) => sound.findClientToRefresh(read(id), ...more),
  };
});

test("another spelling of a client's UUID is no unknown client", async () => {
  const judged = [ruleFor("exchange.unknown-client"), ruleFor("refresh.unknown-client")];
  const client = { id: "7d3c1f0e-5b1a-4c0e-9f3a-2b6d8e1a9c47" };
  const results = await judgeAll(judged, { behaviour: readingUuids, client });
  expect(results.map(({ verdict }) => verdict.kind)).toEqual(["passed", "passed"]);
});
