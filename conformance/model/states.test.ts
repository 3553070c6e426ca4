import { describe, expect, test } from "vitest";
import { documentLimits } from "../contract/limits.ts";
import {
  newModel,
  ofExchange,
  ofList,
  ofRefresh,
  type Model,
  codeIssued,
  codeUsed,
  exchangeRefused,
  refreshed,
} from "./states.ts";
import { MINUTE_MS, DAY_MS } from "../contract/duration.ts";

const at = (ms: number): { earliestMs: number; latestMs: number } => ({ earliestMs: ms, latestMs: ms });

const clock = { kind: "virtual", isTold: true, runs: () => true } as const;
const begun = (): Model =>
  newModel({ limits: documentLimits, guardMs: 500, clock, now: at(0), leftToWaitMs: Infinity });
const tokens = { accessToken: "access", refreshToken: "refresh", lifetimeMs: 7_200_000 };

const first = <T>([one]: readonly T[]): T => {
  if (one === undefined) throw new Error("there is none");
  return one;
};

describe("the reference model", () => {
  test("expects nothing of a code that a service which keeps whole seconds may take for expired", () => {
    const model = begun();
    const code = codeIssued(model, "code", 0, at(769));
    expect(ofExchange(model, code, at(10 * MINUTE_MS - 501))).toMatchObject({ outcome: "yield" });
    expect(ofExchange(model, code, at(10 * MINUTE_MS))).toEqual({ outcome: "either" });
  });

  test("lets a code be exchanged once within 10 minutes", () => {
    const model = begun();
    const code = codeIssued(model, "code", 0, at(0));
    expect(ofExchange(model, code, at(9 * MINUTE_MS))).toEqual({ outcome: "yield", state: "code issued" });
    expect(ofExchange(model, code, at(10 * MINUTE_MS))).toEqual({ outcome: "either" });
    expect(ofExchange(model, code, at(11 * MINUTE_MS))).toEqual({
      outcome: "refusal",
      state: "code expired",
    });
    codeUsed(model, code, tokens, at(MINUTE_MS));
    expect(ofExchange(model, code, at(MINUTE_MS))).toEqual({ outcome: "refusal", state: "code used" });
  });

  test("accepts either outcome for a code after a refused attempt, until it has expired", () => {
    const model = begun();
    const code = codeIssued(model, "code", 0, at(0));
    exchangeRefused(code);
    expect(ofExchange(model, code, at(1))).toEqual({ outcome: "either" });
    expect(ofExchange(model, code, at(DAY_MS)).outcome).toBe("refusal");
  });

  test("counts the 30 days of a refresh token from the exchange, however often it is used", () => {
    const model = begun();
    const code = codeIssued(model, "code", 0, at(0));
    codeUsed(model, code, tokens, at(5 * MINUTE_MS));
    const grant = first(model.grants);
    refreshed(model, grant, { accessToken: "next", lifetimeMs: 1_000 }, at(29 * DAY_MS));
    expect(ofRefresh(model, grant, at(30 * DAY_MS))).toEqual({
      outcome: "yield",
      state: "refresh token valid",
    });
    expect(ofRefresh(model, grant, at(30 * DAY_MS + 6 * MINUTE_MS))).toEqual({
      outcome: "refusal",
      state: "refresh token invalid",
    });
  });

  test("lets a refresh revoke the previous access token or not, but never prolong it", () => {
    const model = begun();
    const code = codeIssued(model, "code", 0, at(0));
    codeUsed(model, code, tokens, at(0));
    const [access] = model.accesses;
    if (access === undefined) throw new Error("no access token");
    expect(ofList(model, access, at(1)).outcome).toBe("yield");
    refreshed(model, access.grant, { accessToken: "next", lifetimeMs: 7_200_000 }, at(7_000_000));
    expect(ofList(model, access, at(7_000_001)).outcome).toBe("either");
    expect(ofList(model, access, at(7_300_000))).toEqual({ outcome: "refusal", state: "access token dead" });
    expect(ofList(model, model.accesses[1] ?? access, at(7_300_000)).outcome).toBe("yield");
  });

  test("accepts either outcome for tokens whose code was presented again", () => {
    const model = begun();
    const code = codeIssued(model, "code", 0, at(0));
    codeUsed(model, code, tokens, at(0));
    exchangeRefused(code);
    expect(ofRefresh(model, first(model.grants), at(1)).outcome).toBe("either");
    expect(ofList(model, first(model.accesses), at(1)).outcome).toBe("either");
  });

  test("accepts either outcome for an access token that was issued twice", () => {
    const model = begun();
    codeUsed(model, codeIssued(model, "one", 0, at(0)), tokens, at(0));
    codeUsed(model, codeIssued(model, "two", 0, at(0)), { ...tokens, refreshToken: "other" }, at(0));
    expect(model.accesses.map((access) => ofList(model, access, at(1)).outcome)).toEqual([
      "either",
      "either",
    ]);
  });
});
