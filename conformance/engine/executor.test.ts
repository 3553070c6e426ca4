import { describe, expect, it } from "vitest";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { DAY_MS } from "../contract/duration.ts";
import { pass } from "../judging/case-verdict.ts";
import type { Profile } from "../contract/profile.ts";
import type { Check, Rule } from "../checks/rule.ts";
import { emptyPrepared } from "../world/world.ts";
import { ControlFailed, TransportError } from "../world/exchange.ts";
import { folderOfFile } from "../testing/folders.ts";
import { serveHttp } from "../testing/servers.ts";
import type { ProfileChange } from "../testing/fake.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { judge, rule, holds, breaks, verdictOf } from "./testing/judge-own.ts";
import { rules } from "../rules/index.ts";
import { requirement, type RequirementId } from "../contract/catalogue.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { errorOf } from "../testing/errors.ts";
import { selectRules, type Selection } from "./executor.ts";

describe("a rule's requirements", () => {
  it.each([
    ["second-client", ({ clients }: Profile) => ({ clients: clients.slice(0, 1) }), "clients"],
    ["events", { hooks: {} }, "hooks.events.trigger"],
    ["notifications", {}, "tolerances.visibilityMs"],
    ["notifications", { hooks: {} }, "hooks.events.trigger"],
    ["many-notifications", { hooks: {} }, "no account has more than 10"],
  ] as const)("%s is named if it is missing", async (need, profile, word) => {
    const verdict = await verdictOf(rule("code.unknown", holds, { needs: [need] }), { profile });
    expect(verdict).toMatchObject({ kind: "could-not-run", missing: need });
    expect(JSON.stringify(verdict)).toContain(word);
  });

  it("let the rule run if they are met", async () => {
    const ids = Array.from({ length: 11 }, (_, index) => `id-${index}`);
    const prepared = {
      ...emptyPrepared,
      notifications: { ...emptyPrepared.notifications, accounts: [{ accountId: "a", ids, known: true }] },
    };
    const needs = ["second-client", "events", "notifications", "many-notifications"] as const;
    expect(await verdictOf(rule("code.unknown", holds, { needs }), { prepared })).toMatchObject({
      kind: "passed",
    });
  });

  it("include time: a rule that takes longer than a run may wait is not started", async () => {
    const waiting = rule("code.lifetime", holds, { waitsMs: ({ limits }) => limits.codeLifetimeMs });
    const setting = { profile: { hooks: {} } };
    expect(await verdictOf(waiting, { ...setting, maxWaitMs: 599_999 })).toMatchObject({
      kind: "could-not-run",
      missing: "clock.advance",
      reason: expect.stringContaining("10 min") as string,
    });
    expect(await verdictOf(waiting, { ...setting, maxWaitMs: 600_000 })).toMatchObject({ kind: "passed" });
    expect(await verdictOf(waiting)).toMatchObject({ kind: "passed" });
  });
});

describe("the verdict of a rule", () => {
  it("is a warning if the rule is advisory, and a failure otherwise", async () => {
    expect(await verdictOf(rule("code.bound-to-client", breaks))).toMatchObject({ kind: "warned" });
    expect(await verdictOf(rule("code.unknown", breaks))).toMatchObject({ kind: "failed" });
  });

  it("is not applicable if the profile says so, and the rule is not run", async () => {
    const unwanted = rule("code.unknown", () => expect.unreachable());
    const profile = { notApplicable: { "code.unknown": "codes are not checked here" } };
    expect(await verdictOf(unwanted, { profile })).toMatchObject({
      kind: "not-applicable",
      reason: "codes are not checked here",
    });
  });

  it("is inconclusive if the rule passed without a case", async () => {
    const vacuous: Rule = {
      requirement: "code.unknown",
      check: () => Promise.resolve({ kind: "passed", cases: 0 }),
    };
    expect(await verdictOf(vacuous)).toMatchObject({ kind: "inconclusive", cases: 0 });
  });

  it("is failed if the evidence rules out the pinned reading", async () => {
    const profile = { pins: { readings: { "authorize.state-length": "bytes-after-decoding" } } };
    const reading = (readings: unknown): Rule => ({
      requirement: "authorize.state-length",
      check: () => Promise.resolve({ kind: "passed", cases: 3, facts: { readings } }),
    });
    const allowed = ["bytes-after-decoding", "bytes-before-decoding"];
    expect(await verdictOf(reading(allowed), { profile })).toMatchObject({ kind: "passed" });
    expect(await verdictOf(reading(allowed.slice(1)), { profile })).toMatchObject({
      kind: "failed",
      breach: { expected: expect.stringContaining("bytes-after-decoding") as string },
    });
    expect(await verdictOf(reading(undefined), { profile })).toMatchObject({ kind: "failed" });
    expect(await verdictOf(reading(allowed.slice(1)))).toMatchObject({ kind: "passed" });
  });

  it("is a harness error if the rule throws, and the others still complete", async () => {
    const slipping: Rule = {
      requirement: "code.unknown",
      check: () => Promise.reject(new TypeError("undefined is not a code")),
    };
    const throwing: Rule = {
      requirement: "code.lifetime",
      check: () => {
        throw new RangeError("at once");
      },
    };
    const sleeping = rule("code.independence", async ({ clock }) => {
      await clock.sleep(600_000);
      return pass;
    });
    const heard: string[] = [];
    const results = await judge([slipping, throwing, sleeping, rule("code.single-use", holds)], {
      onResult: ({ id }) => heard.push(id),
    });
    expect(results.map(({ verdict }) => verdict.kind)).toEqual([
      "harness-error",
      "harness-error",
      "passed",
      "passed",
    ]);
    expect(results[0]?.verdict).toMatchObject({ message: "undefined is not a code" });
    expect(heard.toSorted()).toEqual(results.map(({ id }) => id).toSorted());
  });

  it("is inconclusive if a control fails outside any case", async () => {
    for (const error of [new ControlFailed("no tokens"), new TransportError(1, "closed", "hung up")]) {
      const verdict = await verdictOf({ requirement: "code.unknown", check: () => Promise.reject(error) });
      expect(verdict).toMatchObject({ kind: "inconclusive", reason: error.message });
    }
  });

  it("names the hook if one fails", async () => {
    const profile = { hooks: { clock: { advance: { http: { url: "http://127.0.0.1:1/" } } } } };
    const sleeping = rule("code.lifetime", async ({ clock }) => {
      await clock.sleep(5);
      return pass;
    });
    expect(await verdictOf(sleeping, { profile })).toMatchObject({
      kind: "could-not-run",
      missing: "hooks.clock.advance",
    });
  });
});

describe("the order of rules", () => {
  it("is that of the acts: what needs no waiting, what waits, and what has the clock to itself", async () => {
    const events: string[] = [];
    const noting = (id: Rule["requirement"], sleepMs: number, more: Partial<Rule> = {}): Rule => {
      const { check, ...made } = rule(id, async ({ clock }) => {
        events.push(`${id} begins`);
        if (sleepMs > 0) await clock.sleep(sleepMs);
        events.push(`${id} ends`);
        return pass;
      });
      return { ...made, ...(sleepMs > 0 ? { waits: check as Check } : { check: check as Check }), ...more };
    };
    const results = await judge([
      noting("lifecycle.model", 60_000),
      noting("code.lifetime", 2_592_000_000),
      noting("refresh.lifetime", 30_000),
      noting("notifications.total", 0),
    ]);
    expect(new Set(results.map(({ verdict }) => verdict.kind))).toEqual(new Set(["passed"]));
    expect(events).toEqual([
      "notifications.total begins",
      "notifications.total ends",
      "code.lifetime begins",
      "refresh.lifetime begins",
      "refresh.lifetime ends",
      "code.lifetime ends",
      "lifecycle.model begins",
      "lifecycle.model ends",
    ]);
  });
});

it("an interrupted rule is inconclusive, even if it had a verdict", async () => {
  const interrupt = new AbortController();
  const aborting: Rule = {
    requirement: "code.unknown",
    check: () => {
      interrupt.abort();
      return Promise.resolve({ kind: "passed", cases: 5 });
    },
  };
  const asleep = rule("code.lifetime", async ({ clock }) => {
    await clock.sleep(2_592_000_000);
    return pass;
  });
  const results = await judge([asleep, aborting], { signal: interrupt.signal });
  for (const { verdict } of results)
    expect(verdict).toMatchObject({ kind: "inconclusive", reason: "interrupted" });
});

/** The verdict of a rule while which something else happens to the target's clock. */
const judgedWhile = (
  disturb: () => unknown,
  judgement: typeof holds | typeof breaks,
  profile: ProfileChange,
  isWaiting = false,
) => {
  const { check, ...disturbed } = rule("code.lifetime", async ({ clock }) => {
    await clock.now();
    await disturb();
    return judgement();
  });
  return verdictOf(
    isWaiting
      ? { ...disturbed, waitsMs: () => 1, waits: check as Check }
      : { ...disturbed, check: check as Check },
    { profile },
  );
};

describe("a clock file that someone else writes while a rule is judged", () => {
  const folder = folderOfFile();
  const undecided = {
    kind: "could-not-run",
    missing: "hooks.clock.faketime",
    reason: expect.stringContaining('someone else wrote "+1d"') as string,
  };

  it.each<readonly [string, typeof holds | typeof breaks, boolean, object]>([
    ["takes back its breach, because what it used may have ended", breaks, false, undecided],
    ["leaves it undecided if it waits, though its last reading was before", holds, true, undecided],
    ["does not matter if it holds without waiting", holds, false, { kind: "passed" }],
  ])("%s", async (name, judgement, isWaiting, expected) => {
    const file = path.join(folder, name.slice(0, 5));
    writeFileSync(file, "+0");
    const profile = { hooks: { clock: { faketime: { file } } } };
    const write = (): void => writeFileSync(file, "+1d");
    expect(await judgedWhile(write, judgement, profile, isWaiting)).toMatchObject(expected);
  });
});

describe("a clock that someone else moves by its hook while a rule is judged", () => {
  const wentOn = {
    kind: "inconclusive",
    reason: expect.stringMatching(/went on by 1 d within .* somebody else moves it too/) as string,
    settle: expect.stringContaining("alone") as string,
  };

  it.each([
    ["takes back its breach, and says how far the clock went", breaks, DAY_MS, wentOn],
    [
      "keeps its breach if the clock went no further than one may by itself",
      breaks,
      1_000,
      { kind: "failed" },
    ],
    ["does not matter if it holds", holds, DAY_MS, { kind: "passed" }],
  ])("%s", async (_, judgement, ms, expected) => {
    let advance = "";
    const profile = ({ hooks }: Profile) => {
      const hook = hooks?.clock?.advance;
      advance = hook !== undefined && "http" in hook ? hook.http.url : "";
      return {};
    };
    const headers = { "content-type": "application/json" };
    const move = () => fetch(advance, { method: "POST", headers, body: JSON.stringify({ ms }) });
    expect(await judgedWhile(move, judgement, profile)).toMatchObject(expected);
  });
});

describe("a clock that goes back while a rule is judged", () => {
  const stopping = stopAfterEach();
  const wentBack = {
    kind: "inconclusive",
    reason: expect.stringMatching(/went back by 5 s within .* something set it back/) as string,
    settle: expect.stringContaining("nothing sets the target's clock back") as string,
  };

  it.each<readonly [string, typeof holds | typeof breaks, number, boolean, object]>([
    ["takes back its breach, and says how far the clock went back", breaks, 5_000, true, wentBack],
    [
      "keeps its breach if the clocks of two machines differ by as much",
      breaks,
      1_000,
      true,
      { kind: "failed" },
    ],
    ["does not matter if it holds", holds, 5_000, true, { kind: "passed" }],
  ])("%s", async (_, judgement, backMs, isWaiting, expected) => {
    let nowMs = 1_767_225_600_000;
    const { origin } = await stopping(
      serveHttp((_request, response) => void response.end(JSON.stringify({ now: nowMs }))),
    );
    const profile = ({ hooks }: Profile) => ({
      hooks: { ...hooks, clock: { ...hooks?.clock, now: { http: { url: origin } } } },
    });
    const goBack = (): void => void (nowMs -= backMs);
    expect(await judgedWhile(goBack, judgement, profile, isWaiting)).toMatchObject(expected);
  });
});

const idsOf = (selection: Selection): readonly RequirementId[] =>
  selectRules(rules, selection).map((rule) => rule.requirement);

const problemsOf = async (select: () => unknown): Promise<readonly string[]> =>
  (await errorOf(select, ConfigurationError)).problems;

describe("a selection", () => {
  it("filters by id, group, section of the document and level, and by all of them combined", () => {
    expect(idsOf({})).toHaveLength(rules.length);
    expect(idsOf({ only: ["code.lifetime", "access.header"] }).toSorted()).toEqual([
      "access.header",
      "code.lifetime",
    ]);
    expect(idsOf({ sections: ["code"] })).toEqual(
      rules.map((rule) => rule.requirement).filter((id) => requirement(id).group === "code"),
    );
    for (const id of idsOf({ sections: ["4.3"] })) expect(requirement(id).sections).toContain("4.3");
    for (const id of idsOf({ levels: ["advisory"] })) expect(requirement(id).level).toBe("advisory");
    expect(
      idsOf({ only: ["code.lifetime", "access.header"], sections: ["code"], levels: ["required"] }),
    ).toEqual(["code.lifetime"]);
  });

  it("is rejected if it is empty", async () => {
    for (const empty of [{ only: ["code.lifetime"], levels: ["advisory"] }, { only: [] }])
      expect(await problemsOf(() => idsOf(empty))).toHaveLength(1);
    expect(await problemsOf(() => selectRules([], {}))).toHaveLength(1);
  });
});
