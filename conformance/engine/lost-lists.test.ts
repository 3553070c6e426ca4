import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { accessTokenHeader } from "../contract/forms.ts";
import { rules } from "../rules/index.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { conform } from "./conform.ts";

const stopping = stopAfterEach();

/** Judges a service that treats lists with a token like this, and answers everything else. */
const judgeWithLists = async (only: readonly string[], treat: (response: ServerResponse) => void) => {
  const fake = await stopping(startFake());
  let lists = 0;
  const { origin } = await stopping(
    serveHttp((request, response, body) => {
      const isList = request.headers[accessTokenHeader] !== undefined;
      if (isList) lists += 1;
      if (isList) return treat(response);
      void (async () => {
        const headers = { "content-type": "application/json" };
        const answer = await fetch(`${fake.server.baseUrl}${request.url}`, {
          method: request.method ?? "GET",
          headers,
          ...(body === "" ? {} : { body }),
        });
        response.writeHead(answer.status, headers).end(await answer.text());
      })();
    }),
  );
  const result = await conform({
    ...runOptions(),
    resolved: await fake.resolved({ baseUrl: origin }),
    rules: rules.filter(({ requirement }) => only.includes(requirement)),
  });
  const kinds = Object.fromEntries(result.results.map(({ id, verdict }) => [id, verdict.kind]));
  const cases = result.results.map(({ verdict }) =>
    verdict.kind === "inconclusive" ? Number(/of (\d+) cases/.exec(verdict.reason)?.[1]) : 0,
  );
  return { kinds, lists, undecided: cases.reduce((sum, count) => sum + count, 0) };
};

it("lists that are never answered are not asked for again and again in every case", async () => {
  const needs = ["authorize.redirect-uri-encoded"];
  const { kinds, lists, undecided } = await judgeWithLists(needs, (response) => response.destroy());
  expect(kinds).toEqual(Object.fromEntries(needs.map((id) => [id, "inconclusive"])));
  expect(undecided).toBeGreaterThan(15);
  // Each case asks for one or two lists, three times each; only the first cases are played again.
  expect(lists / undecided).toBeLessThan(8);
});

it("an address is not blamed where no flow ends in a list", async () => {
  const judged = ["authorize.redirect-uri-encoded", "exchange.access-token-works"];
  const { kinds } = await judgeWithLists(judged, (response) => response.writeHead(500).end("{}"));
  expect(kinds).toEqual({
    "authorize.redirect-uri-encoded": "inconclusive",
    "exchange.access-token-works": "failed",
  });
});
