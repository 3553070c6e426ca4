import { Validator } from "@seriousme/openapi-schema-validator";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { grantBreach } from "../judging/laws/grant.ts";
import { pageShapeBreach } from "../judging/laws/notification.ts";
import { refreshTokenBreach, tokenSetBreach } from "../judging/laws/tokens.ts";
import { acknowledgementBreach, answerBreach, pushBreach, stateBreach } from "../testing/contract-schemas.ts";
import { madeNotification } from "../testing/made.ts";
import { catalogue, requirementIds } from "./catalogue.ts";
import { duration } from "./duration.ts";
import { accessTokenHeader, endpoints, stateCharacters } from "./forms.ts";
import { documentLimits as limits } from "./limits.ts";

import contract from "./openapi.json" with { type: "json" };

test("it is valid OpenAPI 3.1 under an independent validator", async () => {
  expect(await new Validator().validate(structuredClone(contract))).toEqual({ valid: true });
  const broken = { ...structuredClone(contract), webhooks: { notification: { post: { responses: 1 } } } };
  expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
});

test("it has exactly the endpoints of the table, and the push as a webhook", () => {
  const operations = Object.entries(contract.paths).flatMap(([address, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [
      operationId,
      { method: method.toUpperCase(), path: address },
    ]),
  );
  expect(Object.fromEntries(operations)).toEqual(endpoints);
  expect(operations).toHaveLength(Object.keys(endpoints).length);
  expect(Object.keys(contract.webhooks)).toEqual(["notification"]);
});

test("it states each requirement of the catalogue once, in the same words, as a promise or as left open", () => {
  const found: { id: string; sentence: string; isOpen: boolean }[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value))
      if (key !== "x-requirements" && key !== "x-left-open") walk(inner);
      else
        for (const [id, sentence] of Object.entries(inner as Record<string, string>))
          found.push({ id, sentence, isOpen: key === "x-left-open" });
  };
  walk(contract);
  const inOrder = (ids: typeof found) => ids.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const stated = requirementIds.map((id) => {
    const { level, sentence } = catalogue[id];
    return { id, sentence, isOpen: level === "unspecified" || level === "untestable" };
  });
  expect(inOrder(found)).toEqual(inOrder(stated));
});

test("it states the limits and names of the document", () => {
  const { paths, webhooks, components } = contract;
  const authorize = paths[endpoints.authorize.path].get;
  const exchange = paths[endpoints.exchange.path].post;
  const list = paths[endpoints.list.path].get;
  const push = webhooks.notification.post;
  expect(components.securitySchemes.accessToken.name).toBe(accessTokenHeader);
  for (const { responses } of [exchange, paths[endpoints.refresh.path].post])
    expect(Object.keys(responses["2XX"].links.list.parameters)).toEqual([`header.${accessTokenHeader}`]);
  expect(authorize["x-code-lifetime-seconds"]).toBe(limits.codeLifetimeMs / 1_000);
  expect(exchange["x-refresh-token-lifetime-seconds"]).toBe(limits.refreshTokenLifetimeMs / 1_000);
  const defaults = list.parameters.flatMap(({ schema }) => ("default" in schema ? [schema.default] : []));
  expect(defaults).toEqual([limits.defaultLimit, limits.defaultPage]);
  expect(push["x-retry-delays-seconds"].map((delay) => delay * 1_000)).toEqual(limits.pushDelaysMs);
  expect(push["x-max-pushes"]).toBe(limits.maxPushes);
  expect(push["x-retry-readings"]).toEqual(catalogue["push.schedule"].readings);
  expect(push.description).toContain(
    `retried after ${limits.pushDelaysMs.map(duration).join(", ")}, each later one delayed further; ${limits.maxPushes} pushes at most`,
  );
  const life = (ms: number) => `within ${duration(ms)} of its issue`;
  expect(exchange.description).toContain(life(limits.codeLifetimeMs));
  expect(authorize.responses["2XX"].links.exchange.description).toContain(life(limits.codeLifetimeMs));
});

const item = madeNotification;

const right = {
  authorize: { timestamp: 1, state: "abc", code: "c" },
  exchange: { accessToken: "a", refreshToken: "r", expiresIn: 7_200, timestamp: 1 },
  refresh: { accessToken: "a", expiresIn: 0.5, timestamp: 1 },
  list: { data: [item], total: 1 },
} as const;

/** Whether the laws, by which rules and load scripts judge, accept the same bodies. */
const laws: Readonly<Record<keyof typeof right, (fields: Readonly<Record<string, unknown>>) => boolean>> = {
  // The law of the grant does not check the state; the law of the echo does.
  authorize: (fields) =>
    grantBreach({ status: 200, fields }) === undefined && stateBreach(fields["state"]) === undefined,
  exchange: (fields) => tokenSetBreach("exchange", fields) === undefined,
  refresh: (fields) =>
    tokenSetBreach("refresh", fields) === undefined && refreshTokenBreach(fields) === undefined,
  list: (fields) => pageShapeBreach(fields) === undefined,
};

const odd = fc.oneof(
  fc.constantFrom(undefined, null, "", 0, -1, 0.5, true, [], {}, "x", item.id, item.createTime),
  fc.constantFrom(
    "2024-13-06T07:08:09.123Z",
    "20240506T070809,123Z",
    "2024-05-06T07:08:09Z",
    `${item.id}0`,
    [item],
    [{ ...item, id: 1 }],
  ),
);

describe("schemas and laws agree", () => {
  it.each(Object.keys(right) as (keyof typeof right)[])("on answers of %s", (name) => {
    expect(answerBreach[name](right[name])).toBeUndefined();
    const names = [...Object.keys(right[name]), "refreshToken", "further"];
    fc.assert(
      fc.property(fc.constantFrom(...names), odd, (changed, value) => {
        const body = JSON.parse(JSON.stringify({ ...right[name], [changed]: value })) as Record<
          string,
          unknown
        >;
        expect(answerBreach[name](body) === undefined).toBe(laws[name](body));
      }),
      { numRuns: 200, seed: 1 },
    );
  });

  it.each(Object.keys(item))("on %s of a notification", (field) => {
    fc.assert(
      fc.property(odd, (value) => {
        const changed = JSON.parse(JSON.stringify({ ...item, [field]: value })) as Record<string, unknown>;
        const holds = pageShapeBreach({ data: [changed], total: 1 }) === undefined;
        expect(answerBreach.list({ data: [changed], total: 1 }) === undefined).toBe(holds);
        expect(pushBreach(changed) === undefined).toBe(holds);
      }),
      { numRuns: 50, seed: 1 },
    );
  });
});

test("the schema of state accepts exactly the allowed characters and up to 128 bytes", () => {
  expect(stateBreach(stateCharacters)).toBeUndefined();
  expect(stateBreach("a".repeat(limits.stateMaxBytes))).toBeUndefined();
  for (const state of ["a".repeat(limits.stateMaxBytes + 1), "a-b", "ä", " "])
    expect(stateBreach(state)).toBeDefined();
});

test("the schema of an acknowledgement requires the id and received: true", () => {
  expect(acknowledgementBreach({ id: item.id, received: true })).toBeUndefined();
  for (const body of [{ id: item.id, received: false }, { received: true }, { id: item.id }])
    expect(acknowledgementBreach(body)).toBeDefined();
});
