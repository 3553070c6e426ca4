import { Validator } from "@seriousme/openapi-schema-validator";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { requirementIds } from "../../conformance/contract/catalogue.ts";
import { stateCharacters } from "../../conformance/contract/forms.ts";
import { documentLimits } from "../../conformance/contract/limits.ts";
import { grantBreach } from "../../conformance/judging/laws/grant.ts";
import { pageShapeBreach } from "../../conformance/judging/laws/notification.ts";
import { refreshTokenBreach, tokenSetBreach } from "../../conformance/judging/laws/tokens.ts";
import { acknowledgementBreach, answerBreach, pushBreach, stateBreach } from "../testing/contract-schemas.ts";
import { openApiDocument } from "./document.ts";
import { madeNotification } from "../../conformance/testing/notification.ts";

const document = openApiDocument("1.2.3");

test("the document is valid OpenAPI 3.1 under an independent validator", async () => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  const broken = { ...structuredClone(document), webhooks: { notification: { post: { responses: 1 } } } };
  expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
});

test("the document lists each requirement of the catalogue once, as a promise or as left open", () => {
  const found: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === "x-requirements" || key === "x-left-open") found.push(...Object.keys(inner as object));
      else walk(inner);
    }
  };
  walk(document);
  expect(found.toSorted()).toEqual([...requirementIds].toSorted());
});

test("the webhook states its retry schedule and cap", () => {
  expect(document["webhooks"]).toMatchObject({
    notification: {
      post: {
        description: expect.stringContaining("retried after 30 s, 1 min, 2 min, 4 min"),
        "x-retry-delays-seconds": [30, 60, 120, 240],
        "x-max-pushes": 5,
        "x-callback-path": "/service/webhook",
      },
    },
  });
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
  expect(stateBreach("a".repeat(documentLimits.stateMaxBytes))).toBeUndefined();
  for (const state of ["a".repeat(documentLimits.stateMaxBytes + 1), "a-b", "ä", " "])
    expect(stateBreach(state)).toBeDefined();
});

test("the schema of an acknowledgement requires the id and received: true", () => {
  expect(acknowledgementBreach({ id: item.id, received: true })).toBeUndefined();
  for (const body of [{ id: item.id, received: false }, { received: true }, { id: item.id }])
    expect(acknowledgementBreach(body)).toBeDefined();
});
