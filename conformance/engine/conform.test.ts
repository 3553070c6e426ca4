import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { Profile } from "../contract/profile.ts";
import { conform, examine, pinnedOf, hookNotes } from "./conform.ts";
import { replacedLimits } from "../session/session.ts";
import type { Rule } from "../checks/rule.ts";
import { runOptions, startFake, type ProfileChange } from "../testing/fake.ts";
import { ruleFor } from "../testing/seeded.ts";
import { serveTcp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { rules as allRules } from "../rules/index.ts";
import type { HookReport, HookUse } from "../world/hooks/hook-caller.ts";

const stopping = stopAfterEach();

const observing = (seen: unknown): Rule => ({
  requirement: "authorize.redirect",
  check: (_, run) => run.observe(() => Promise.resolve(seen)),
});
const passing: Rule = {
  requirement: "code.unknown",
  check: () => Promise.resolve({ kind: "passed", cases: 1 }),
};

/** Judges the fake by these rules, with a profile that differs from its own as given. */
const run = async (
  rules: readonly Rule[],
  profile: ProfileChange = {},
  more: Partial<ReturnType<typeof runOptions>> = {},
) => {
  const fake = await stopping(startFake());
  return conform({ ...runOptions(), ...more, resolved: await fake.resolved(profile), rules });
};

const interruption = () => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
};

describe("a pinned observation", () => {
  const pins = (value: unknown): Partial<Profile> => ({
    pins: { observations: { "authorize.redirect": value } },
  });

  it("may be given as a value or as its fingerprint", async () => {
    for (const value of [{ b: 1, a: [2] }, { a: [2], b: 1 }, '{"a":[2],"b":1}'])
      expect(await run([passing, observing({ b: 1, a: [2] })], pins(value))).toMatchObject({
        outcome: "passed",
        exitCode: 0,
      });
    const fake = await stopping(startFake());
    expect(pinnedOf(await fake.resolved(pins("no JSON")))).toEqual({ "authorize.redirect": '"no JSON"' });
  });

  it("ends the run as drifted and is named if it changed", async () => {
    const result = await run([passing, observing("302")], pins("json"));
    expect(result).toMatchObject({ outcome: "drifted", exitCode: 6 });
    expect(result.notes.join()).toContain("authorize.redirect");
  });
});

it("conform notes first which limits differ from the document's", async () => {
  const fake = await stopping(startFake());
  const resolved = await fake.resolved({ limits: { codeLifetimeMs: 5_000, defaultLimit: 10 } });
  expect(replacedLimits(resolved)).toEqual(["codeLifetimeMs"]);
  const { notes } = await conform({ ...runOptions(), resolved, rules: [passing] });
  expect(notes[0]).toContain("codeLifetimeMs");
});

it("a rule whose wait is too long names the command that keeps a ledger, as not every one that judges it does", async () => {
  const { results } = await run([ruleFor("refresh.lifetime")], { hooks: {} });
  expect(results[0]?.verdict).toMatchObject({
    kind: "could-not-run",
    reason: expect.stringMatching(
      /raise --max-wait, or keep a ledger \(`conform --ledger FILE`\)$/,
    ) as string,
  });
});

it("examine runs the preflight without judging rules", async () => {
  const fake = await stopping(startFake());
  const checks = await examine(await fake.resolved(), runOptions());
  expect(checks.find(({ check }) => check === "hooks.events.trigger")?.message).toMatch(/\d+ notifications/);
});

describe("an interrupted run", () => {
  const ended = { outcome: "interrupted", exitCode: 130 };

  it("ends at once although a request hangs before the first rule", async () => {
    const { signal, abort } = interruption();
    const hanging = await stopping(serveTcp(() => void setTimeout(abort, 20)));
    const result = await run([passing], { baseUrl: hanging.origin }, { signal });
    expect(result).toMatchObject({ ...ended, results: [] });
  });

  it("ends at once although a rule sleeps, and another one is awake", async () => {
    const { signal, abort } = interruption();
    const waiting: Rule = {
      requirement: "code.unknown",
      check: (_, rule) =>
        rule.once(async (world) => {
          setTimeout(abort, 20);
          await world.clock.sleep(2_592_000_000);
          await world.target.list({});
          return expect.unreachable("time went on");
        }),
    };
    const awake: Rule = {
      requirement: "code.single-use",
      check: (_, rule) =>
        rule.once(async () => {
          if (!signal.aborted) await once(signal, "abort");
          return { kind: "passed" };
        }),
    };
    const result = await run([waiting, awake], {}, { signal });
    expect(result).toMatchObject(ended);
    expect(result.results.map(({ verdict }) => verdict.kind)).toEqual(["inconclusive", "inconclusive"]);
  });
});

it("conform gives the same cases and the same fingerprints for the same seed", async () => {
  // No rule that alters codes: which alterations change a code depends on the code, and so on the order of requests.
  const chosen = allRules.filter(({ requirement }) =>
    ["authorize.echoes-state", "exchange.unknown-client", "exchange.errors", "authorize.redirect"].includes(
      requirement,
    ),
  );
  const summary = async (seed: number) => {
    const { results } = await run(chosen, {}, { seed });
    return results.map(({ id, verdict }) => [
      id,
      verdict.kind,
      "cases" in verdict && verdict.cases,
      "fingerprint" in verdict && verdict.fingerprint,
    ]);
  };
  expect(await summary(7)).toEqual(await summary(7));
});

const used = (totalMs: number, key = "hooks.clock.advance"): HookUse => ({
  key,
  calls: 140,
  totalMs,
  longestMs: 1_200,
  lost: 0,
  madeAgain: 0,
  throttled: 0,
});

const notesOf = (elapsedMs: number, ...hooks: HookReport["hooks"]): readonly string[] =>
  hookNotes({ hooks, elapsedMs, outages: [] });

describe("the note that moving the clock takes much of the time", () => {
  const note = (took: string): string =>
    `hooks.clock.advance takes much of the time: 140 calls took ${took}, the longest 1.2 s`;

  it("is written from five seconds on", () => {
    expect(notesOf(10_000, used(5_000))).toEqual([note("5 s of 10 s")]);
    expect(notesOf(10_000, used(4_999))).toEqual([]);
  });

  it("is not written of other hooks, whose calls overlap", () => {
    const overlapping = [used(9_000, "hooks.events.trigger"), used(9_000, "hooks.clock.now")];
    expect(notesOf(10_000, ...overlapping)).toEqual([]);
    expect(notesOf(10_000, used(6_000), ...overlapping)).toEqual([note("6 s of 10 s")]);
  });
});
