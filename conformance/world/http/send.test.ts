import { describe, expect, it } from "vitest";
import { accessTokenHeader } from "../../contract/forms.ts";
import { retryPolicy } from "./retry.ts";
import { createUnanswered } from "./send.ts";

const open = { method: "GET", path: "/list" };
const authorized = { ...open, path: "/list?limit=1", headers: [[accessTokenHeader, "t"]] as const };
const { leastLossesOfKind, leastLossesOfService } = retryPolicy;

/** Loses it this often, with an answer to another request before each time. */
const losing = (times: number, reason: "closed" | "timeout" = "closed") => {
  const unanswered = createUnanswered();
  const results = Array.from({ length: times }, () => {
    unanswered.answered(open, 200);
    return unanswered.lost(authorized, reason);
  });
  return { unanswered, results };
};

describe("a kind of request that is never answered", () => {
  it("is known once it was closed often enough, with answers to others in between", () => {
    const { results } = losing(leastLossesOfKind);
    expect(results.indexOf(true)).toBe(leastLossesOfKind - 1);
  });

  it("is known sooner if every one timed out, and is then waited for less", () => {
    const { results, unanswered } = losing(leastLossesOfService, "timeout");
    expect(results).toEqual([false, false, true]);
    expect(unanswered.timeLimitMs(authorized, 1_000)).toBeLessThan(1_000);
    expect(unanswered.timeLimitMs(open, 1_000)).toBe(1_000);
  });

  it("is not known from losses at one time, which may be a restart", () => {
    const unanswered = createUnanswered();
    unanswered.answered(open, 200);
    for (let time = 0; time < 3 * leastLossesOfKind; time += 1)
      expect(unanswered.lost(authorized, "closed")).toBe(false);
  });

  it("counts the refused as unanswered, and is none for good once one succeeds", () => {
    const { unanswered } = losing(leastLossesOfKind);
    unanswered.answered(authorized, 401);
    expect(unanswered.lost(authorized, "closed")).toBe(true);
    unanswered.answered(authorized, 200);
    for (let time = 0; time < 3 * leastLossesOfKind; time += 1) {
      unanswered.answered(open, 200);
      expect(unanswered.lost(authorized, "closed")).toBe(false);
    }
  });
});
