import { expect, it } from "vitest";
import type { ExchangeRecord } from "../contract/record.ts";
import { proofOf } from "./breach.ts";

/** An exchange as the record shows it: a path, the token that it carries, and what it is answered. */
const exchange = (n: number, path: string, token = "", text = "", location = ""): ExchangeRecord => ({
  n,
  rule: "code.single-use",
  startedMs: n,
  durationMs: 1,
  request: { method: "GET", path, headers: [["x-service-access-token", token]] },
  answer: { status: 200, headers: [["location", location]], text },
});

const flow = [
  exchange(1, "/authorize", "", '{"code":"‹code 1›"}'),
  exchange(2, "/authorize", "", "", "https://x/cb?code=‹code 2›"),
  exchange(3, "/access-token?‹code 1›", "", '{"accessToken":"‹access token 1›"}'),
  exchange(4, "/access-token?‹code 2›", "", '{"accessToken":"‹access token 2›"}'),
  exchange(5, "/notifications", "‹access token 1›"),
  exchange(6, "/notifications", "‹access token 2›"),
];

const proof = (...deciding: number[]) => proofOf(flow, deciding).map(({ n }) => n);

it("adds what issued the credentials of the deciding exchanges, in JSON or by redirect", () => {
  expect(proof(5)).toEqual([1, 3, 5]);
  expect(proof(6)).toEqual([2, 4, 6]);
  expect(proof(4, 5)).toEqual([1, 2, 3, 4, 5]);
});

it("needs nothing else for a request without a credential", () => {
  expect(proof(1)).toEqual([1]);
  expect(proof()).toEqual([]);
});

it("finds what issued a credential that was sent nearly right or encoded", () => {
  const near = [
    ...flow,
    exchange(7, "/access-token?‹code 2, in capitals›"),
    exchange(8, "/x?‹encoded code 1›"),
  ];
  expect(proofOf(near, [7, 8]).map(({ n }) => n)).toEqual([1, 2, 7, 8]);
});

it("finds what issued a token under another name, but nothing for a client secret that an answer echoes", () => {
  const other = [
    exchange(1, "/x", "", '{"access_token":"‹credential 1›","secret":"‹client secret 1›"}'),
    exchange(2, "/y?‹credential 1›"),
    exchange(3, "/z?‹client secret 1›"),
  ];
  expect(proofOf(other, [2]).map(({ n }) => n)).toEqual([1, 2]);
  expect(proofOf(other, [3]).map(({ n }) => n)).toEqual([3]);
});

it("takes no later answer for the origin of a credential", () => {
  const echoed = [exchange(1, "/access-token?‹code 9›"), exchange(2, "/x", "", "‹code 9›")];
  expect(proofOf(echoed, [1]).map(({ n }) => n)).toEqual([1]);
});
