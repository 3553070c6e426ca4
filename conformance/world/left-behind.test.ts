import { describe, expect, it } from "vitest";
import { leftBehindLine, leftBehindSentences, type LeftBehind } from "../contract/left-behind.ts";
import { endpoints } from "../contract/forms.ts";
import type { Request } from "./exchange.ts";
import { createLeftBehind } from "./left-behind.ts";

const limits = { codeLifetimeMs: 600_000, refreshTokenLifetimeMs: 30 * 86_400_000 };
const startMs = Date.parse("2026-01-01T00:00:00Z");

/** A record of what is left behind, and the target's clock under the test's control. */
const open = (isDate = true) => {
  const clock: { now: { nowMs: number; isDate: boolean } | undefined } = { now: { nowMs: startMs, isDate } };
  const account = createLeftBehind({ limits, estimate: () => clock.now });
  const answered = (path: string, json: unknown, body?: unknown): void => {
    const request: Request = {
      method: body === undefined ? "GET" : "POST",
      path: `/base${path}`,
      headers: [],
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    account.onAnswer(request, { status: 200, headers: [], text: JSON.stringify(json), json });
  };
  const passes = (durationMs: number): void => {
    clock.now = { nowMs: (clock.now?.nowMs ?? startMs) + durationMs, isDate };
  };
  return { account, answered, passes, clock };
};

const authorized = (code: string) => ({ code, state: "s", timestamp: 1 });
const tokens = (n: number, expiresIn = 3_600) => ({
  accessToken: `access-${n}`,
  refreshToken: `refresh-${n}`,
  expiresIn,
  timestamp: 1,
});
const nothing = { issued: 0, valid: 0 };

describe("what a run leaves behind on its target", () => {
  it("includes unused codes until they expire", () => {
    const { account, answered, passes } = open();
    for (const code of ["a", "b", "c", "a"])
      answered(`${endpoints.authorize.path}?state=s`, authorized(code));
    answered(endpoints.exchange.path, { error: "no" }, { code: "a" });
    answered(endpoints.exchange.path, tokens(1), { code: "b" });
    account.issuedCode("by-hook");
    expect(account.report().codes).toEqual({
      issued: 4,
      valid: 3,
      lastEndsInMs: 600_000,
      lastEndsAt: "2026-01-01T00:10:00.000Z",
    });
    passes(600_000);
    expect(account.report().codes).toEqual({ issued: 4, valid: 0 });
  });

  it("includes tokens until they expire, each counted once", () => {
    const { account, answered, passes } = open();
    answered(endpoints.exchange.path, tokens(1, 60), { code: "a" });
    passes(30_000);
    answered(
      endpoints.refresh.path,
      { accessToken: "access-2", expiresIn: 60 },
      { refreshToken: "refresh-1" },
    );
    answered(
      endpoints.refresh.path,
      { ...tokens(1), accessToken: "access-2" },
      { refreshToken: "refresh-1" },
    );
    passes(40_000);
    const { accessTokens, refreshTokens } = account.report();
    expect(accessTokens).toMatchObject({ issued: 2, valid: 1, lastEndsAt: "2026-01-01T00:01:30.000Z" });
    expect(refreshTokens).toMatchObject({ issued: 1, valid: 1, lastEndsAt: "2026-01-31T00:00:00.000Z" });
    passes(31 * 86_400_000);
    expect(account.report()).toMatchObject({
      accessTokens: { issued: 2, valid: 0 },
      refreshTokens: { issued: 1, valid: 0 },
    });
  });

  it("states the remaining time instead of a date if the service's date is unknown", () => {
    const { account, answered, clock } = open(false);
    clock.now = undefined;
    answered(endpoints.exchange.path, tokens(1), { code: "a" });
    clock.now = { nowMs: 5_000, isDate: false };
    answered(endpoints.exchange.path, tokens(2), { code: "b" });
    const { accessTokens } = account.report();
    expect(accessTokens).toEqual({ issued: 2, valid: 2, lastEndsInMs: 3_600_000 });
    const left: LeftBehind = { ...account.report(), accessTokens };
    expect(leftBehindSentences(left)[0]).toBe(
      "2 access tokens of 2 issued: valid for 1 h more of the service's time at the latest",
    );
  });

  it("includes notifications, of which the first and the last are named", () => {
    const { account } = open();
    account.created("account-1", "id-1");
    account.created("account-2", undefined);
    account.created("account-1", "id-3");
    account.maybeCreated();
    expect(account.report().notifications).toEqual({
      created: 3,
      unsure: 1,
      accounts: 2,
      first: { accountId: "account-1", id: "id-1" },
      last: { accountId: "account-1", id: "id-3" },
    });
    expect(account.ids()).toEqual({
      accountIds: ["account-1", "account-2"],
      notificationIds: ["id-1", "id-3"],
    });
  });
});

describe("the report of what is left behind", () => {
  const none: LeftBehind = {
    codes: nothing,
    accessTokens: nothing,
    refreshTokens: nothing,
    notifications: { created: 0, unsure: 0, accounts: 0 },
  };

  it("is empty if nothing remains", () => {
    const restored = { url: "https://here/", isAttached: false, restore: { ok: true } };
    for (const left of [none, { ...none, callback: restored }]) {
      expect(leftBehindSentences(left)).toEqual([]);
      expect(leftBehindLine(left)).toBe(undefined);
    }
  });

  it("states where pushes still go, and why the former address was not restored", () => {
    const callback = { url: "https://127.0.0.1:9/service/webhook", isAttached: false };
    expect(leftBehindSentences({ ...none, callback })).toEqual([
      "the callback address is still https://127.0.0.1:9/service/webhook, the address of the run's receiver, which no longer listens (`hooks.callback.restore` can put the former address back)",
    ]);
    const restore = { ok: false, problem: "hooks.callback.restore: it gave no answer" };
    expect(leftBehindSentences({ ...none, callback: { ...callback, isAttached: true, restore } })).toEqual([
      "the callback address is still https://127.0.0.1:9/service/webhook, where the attached receiver is; hooks.callback.restore: it gave no answer",
    ]);
  });

  it("fits into one line", () => {
    const notifications = { created: 2, unsure: 0, accounts: 1 };
    const refreshTokens = { issued: 9, valid: 1, lastEndsInMs: 5 };
    expect(leftBehindLine({ ...none, notifications, refreshTokens })).toBe(
      "1 refresh token, 2 notifications",
    );
  });
});
