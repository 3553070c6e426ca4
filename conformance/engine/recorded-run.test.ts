import { once } from "node:events";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { fail, pass } from "../judging/case-verdict.ts";
import { readGateRun } from "../../reports/read/index.ts";
import { recordedRun, type RecordedRunOptions } from "./recorded-run.ts";
import { replay, replayable } from "./replay.ts";
import type { Rule } from "../checks/rule.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import { ruleFor } from "../testing/seeded.ts";
import { obtainCode, obtainTokens } from "../world/steps.ts";
import { runOptions, startFake, type ProfileChange } from "../testing/fake.ts";
import { deadOrigin } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { folderOfFile } from "../testing/folders.ts";

const stopping = stopAfterEach();

const folder = folderOfFile();
let runs = 0;
const base = (): Omit<RecordedRunOptions, "resolved" | "rules"> & { readonly out: string } => ({
  ...runOptions(),
  out: path.join(folder, `run-${(runs += 1)}`),
});

const exchangesOf = async (directory: string) => Array.fromAsync((await readGateRun(directory)).exchanges());

const single = (check: NonNullable<Rule["check"]>): Rule => ({ requirement: "code.single-use", check });

describe("a recorded run", () => {
  it("is sealed with its results and every exchange, and contains no credential", async () => {
    const fake = await stopping(startFake());
    const seen: string[] = fake.server.clients.map(({ secret }) => secret);
    const breaking = single((_, run) =>
      run.once(async (world) => {
        const { accessToken, code, refreshToken } = await obtainTokens(world);
        seen.push(accessToken, code, refreshToken);
        return fail("refused", `granted ${accessToken}`);
      }),
    );
    const options = { ...base(), resolved: await fake.resolved(), rules: [breaking] };
    const { record, directory } = await recordedRun(options);
    expect(record).toMatchObject({
      state: "sealed",
      outcome: "failed",
      exitCode: 1,
      selected: ["code.single-use"],
    });
    expect((await readGateRun(directory)).record).toEqual(record);
    const [result] = record.rules;
    if (result?.verdict.kind !== "failed") throw new Error("it did not fail");
    const exchanges = await exchangesOf(directory);
    const numbers = exchanges.map(({ n }) => n);
    expect(numbers).toEqual(expect.arrayContaining([...result.verdict.breach.evidence]));
    expect(new Set(numbers).size).toBe(numbers.length);
    const text = JSON.stringify([record, exchanges]);
    for (const secret of seen) expect(text.includes(secret)).toBe(false);
  });

  it("says what the profile sets that verdicts depend on", async () => {
    const fake = await stopping(startFake());
    const profile = {
      tolerances: { latenessMs: 7 },
      pins: { readings: { "push.schedule": "R1" } },
    } satisfies ProfileChange;
    const options = { ...base(), resolved: await fake.resolved(profile), signal: AbortSignal.abort() };
    const { record } = await recordedRun({ ...options, rules: [single(() => expect.unreachable())] });
    expect(record.settings).toMatchObject({
      "tolerances.latenessMs": "7",
      "pins.readings.push.schedule": '"R1"',
    });
  });

  it("ends at once when it is interrupted, and can be read", async () => {
    const fake = await stopping(startFake());
    const interrupt = new AbortController();
    const { promise: hangs, resolve: beginsToHang } = Promise.withResolvers<void>();
    const done: Rule = {
      requirement: "code.unknown",
      check: (_, run) => run.once(async (world) => (await obtainCode(world), pass)),
    };
    const hanging = single((_, run) =>
      run.once(async (world) => {
        await obtainCode(world);
        beginsToHang();
        await world.clock.sleep(5_000);
        return pass;
      }),
    );
    const awake: Rule = {
      requirement: "code.lifetime",
      check: (_, run) =>
        run.once(async ({ target }) => {
          const own = target.dedicated();
          // A request that the fake would never answer.
          await own
            .send({ method: "POST", path: "/x", headers: [["content-length", "5"]] })
            .catch(() => undefined);
          if (!interrupt.signal.aborted) await once(interrupt.signal, "abort");
          return pass;
        }),
    };
    const options = { ...base(), resolved: await fake.resolved(), signal: interrupt.signal };
    const { record, directory } = await recordedRun({
      ...options,
      rules: [done, hanging, awake],
      onResult: ({ id }) => {
        if (id === done.requirement) void hangs.then(() => interrupt.abort());
      },
    });
    expect(record).toMatchObject({ state: "sealed", outcome: "interrupted", exitCode: 130 });
    const kinds = Object.fromEntries(record.rules.map(({ id, verdict }) => [id, verdict.kind]));
    expect(kinds).toEqual({
      "code.unknown": "passed",
      "code.single-use": "inconclusive",
      "code.lifetime": "inconclusive",
    });
    expect((await readGateRun(directory)).record.outcome).toBe("interrupted");
    expect((await exchangesOf(directory)).length).toBeGreaterThan(0);
  });

  it("is sealed with the reason if it cannot begin, and the error is thrown", async () => {
    const fake = await stopping(startFake());
    const options = base();
    const resolved = await fake.resolved({ baseUrl: await deadOrigin() });
    await expect(
      recordedRun({ ...options, resolved, rules: [single(() => expect.unreachable())] }),
    ).rejects.toThrow("cannot be reached");
    const record = (await readGateRun(options.out)).record;
    expect(record).toMatchObject({ state: "sealed", outcome: "incomplete", exitCode: 4, rules: [] });
    expect(record.notes.join()).toContain("cannot be reached");
  });
});

describe("a replay", () => {
  it("answers that the rule still fails, is fixed, or could not run", async () => {
    const id = "code.single-use";
    const broken = await stopping(startFake({ behaviour: "code-reusable" }));
    const sound = await stopping(startFake());
    const options = { ...base(), resolved: await broken.resolved(), rules: [ruleFor(id)] };
    const { record } = await recordedRun(options);
    expect(record.outcome).toBe("failed");
    const earlier = replayable(record, id);
    const answerOn = async (resolved: ResolvedProfile) =>
      (await replay(earlier, { ...runOptions(), resolved })).answer;
    expect(await answerOn(await broken.resolved())).toBe("still fails");
    expect(await answerOn(await sound.resolved())).toBe("fixed");
    const profile = { notApplicable: { [id]: "not here" } };
    expect(await answerOn(await sound.resolved(profile))).toBe("could not run");
  });

  it("still fails if the rule is broken only beside the other rules of the run", async () => {
    const fake = await stopping(startFake());
    const resolved = await fake.resolved();
    let isDisturbed = false;
    const disturbed = single((_, run) =>
      run.once(async (world) => {
        await obtainCode(world);
        return isDisturbed ? fail("undisturbed", "disturbed") : pass;
      }),
    );
    const disturbing: Rule = {
      requirement: "code.unknown",
      check: (_, run) => {
        isDisturbed = true;
        return run.once(() => Promise.resolve(pass));
      },
    };
    const { record } = await recordedRun({ ...base(), resolved, rules: [disturbed, disturbing] });
    isDisturbed = false;
    const found = replayable(record, "code.single-use");
    expect(found.others.map(({ requirement }) => requirement)).toEqual(["code.unknown"]);
    const answerBeside = async (some: readonly Rule[]) =>
      (await replay({ ...found, rule: disturbed, others: some }, { ...runOptions(), resolved })).answer;
    expect(await answerBeside([])).toBe("fixed");
    expect(await answerBeside([disturbing])).toBe("still fails");
  });

  it("may wait as long as the run that found the breach", async () => {
    const fake = await stopping(startFake());
    const resolved = await fake.resolved({ hooks: {} });
    const failing = single((_, run) => run.once(() => Promise.resolve(fail("a", "b"))));
    const rule: Rule = { ...failing, waitsMs: () => 7_000 };
    const { record } = await recordedRun({ ...base(), resolved, rules: [rule], maxWaitMs: 7_000 });
    const found = { ...replayable(record, "code.single-use"), rule };
    const { answer } = await replay(found, { ...runOptions(), resolved, maxWaitMs: 1_000 });
    expect(answer).toBe("still fails");
  });

  it("that is interrupted answers nothing, even if the rule has passed by then", async () => {
    const fake = await stopping(startFake());
    const resolved = await fake.resolved();
    const failing = single((_, run) => run.once(() => Promise.resolve(fail("a", "b"))));
    const { record } = await recordedRun({ ...base(), resolved, rules: [failing] });
    const found = replayable(record, "code.single-use");
    const interrupt = new AbortController();
    const passing = single((_, run) => run.once(() => Promise.resolve(pass)));
    const hanging: Rule = {
      requirement: "code.unknown",
      check: async () => {
        interrupt.abort();
        return { kind: "passed", cases: 1 };
      },
    };
    const options = { ...runOptions(), resolved, signal: interrupt.signal };
    await expect(replay({ ...found, rule: passing, others: [hanging] }, options)).rejects.toThrow(
      "interrupted",
    );
  });

  it("names the failed rules if the requested one has no result", async () => {
    const fake = await stopping(startFake());
    const failing = single((_, run) => run.once(() => Promise.resolve(fail("a", "b"))));
    const { record } = await recordedRun({ ...base(), resolved: await fake.resolved(), rules: [failing] });
    expect(() => replayable(record, "code.lifetime")).toThrow(/no result for it.*code\.single-use/);
    expect(() => replayable(record, "code.life")).toThrow(/no such rule/);
  });
});
