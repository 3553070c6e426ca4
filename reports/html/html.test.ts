import { createHash } from "node:crypto";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { readRun } from "../read/index.ts";
import { exchanged, recordOf, ruleThat, withResults } from "../testing/fixture.ts";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";
import { gather, type GateView, type RunView } from "../gather/gather.ts";
import { countOf, renderHtml, textOf } from "../testing/shown.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

const folder = folderOfFile();

beforeAll(async () => {
  writeGateRun(path.join(folder, "gate"), { seed: 1, pushes: 40, missing: ["refresh.lifetime"] });
  writeLoadRun(path.join(folder, "load"), {
    seed: 1,
    seconds: 20,
    requests: 2_000,
    breaches: 30,
    failedShare: 0.01,
  });
});
const viewOf = async (name: string): Promise<RunView> => gather(await readRun(path.join(folder, name)));

const gateView = (record: Partial<RunRecord>): GateView => ({
  kind: "conform",
  directory: "runs/one",
  record: recordOf(record),
});

describe("the HTML report", () => {
  it("loads nothing, and allows only its one style and script by their hashes in its policy", async () => {
    const html = renderHtml([await viewOf("gate"), await viewOf("load")]);
    const blocks = (tag: string): string[] =>
      [...html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, "gs"))].map(([, body]) => body ?? "");
    const hash = (text = ""): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];

    expect([blocks("style").length, blocks("script").length]).toEqual([1, 1]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`style-src ${hash(blocks("style")[0])};`);
    expect(policy).toContain(`script-src ${hash(blocks("script")[0])};`);
    expect(html).not.toMatch(/\s(src|style|on\w+)=/);
    expect(html).not.toMatch(/href="(?!#|data:image)/);
  });

  it("has unique ids, and links only to these", async () => {
    const html = renderHtml([await viewOf("gate"), await viewOf("load"), await viewOf("gate")]);
    const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    const links = [...html.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    expect(links.filter((id) => !ids.includes(id))).toEqual([]);
    expect(links.length).toBeGreaterThan(200);
  });
});

describe("the page of a gate", () => {
  it("says when an exchange was sent, and gives no curl line for a push", () => {
    const push = { ...exchanged(2), isPush: true as const, clockMs: 60_000 };
    const rule = ruleThat.failed("push.cap", "a", "b", [{ ...push, n: 1, clockMs: 0 }, push]);
    const own = ruleThat.failed("code.single-use", "a", "b", [exchanged(3)]);
    const pageOf = (...rules: readonly RuleResult[]): string =>
      renderHtml([gateView({ rules: withResults(...rules), outcome: "failed", exitCode: 1 })]);
    expect(textOf(pageOf(rule))).toContain("+1 min");
    expect(pageOf(rule)).not.toContain("curl --silent");
    expect(pageOf(own)).toContain("curl --silent");
  });

  it("states how many exchanges of a long history it leaves out", () => {
    const long = ruleThat.failed(
      "code.single-use",
      "x",
      "y",
      Array.from({ length: 200 }, (_, at) => exchanged(at)),
    );
    const html = renderHtml([gateView({ rules: withResults(long), outcome: "failed", exitCode: 1 })]);
    expect(countOf(html, "exchange")).toBe(50);
    expect(textOf(html)).toContain("50 of 200 exchanges are shown here; run.json has the others.");
  });

  it("draws lifetimes and the retry schedule, each with its table", () => {
    const rules = withResults(
      ruleThat.passed("code.lifetime", 2, {
        code: { lifetimeMs: 600_000, acceptedUpToMs: 601_000, refusedFromMs: null },
      }),
      ruleThat.passed("push.schedule", 1, {
        readings: ["R1"],
        schedule: [{ push: 1, afterMs: 0, beforeMs: 400, expectedMs: { R1: 0, R3: 30_000 } }],
      }),
    );
    const html = renderHtml([gateView({ rules })]);
    expect(html).toContain(
      'aria-label="code.lifetime: 10 min promised, accepted up to 10 min 1 s, never refused"',
    );
    expect(html).toContain("bar-wrong");
    expect(html).toContain('aria-label="R1 fits: pushes at 0 seconds"');
    expect(html).toContain('aria-label="R3 does not fit: pushes at 30 seconds"');
    expect(textOf(html)).toMatch(/Values of “The retry schedule”.*0 to 0\.4/s);
  });
});

describe("the windows of the retry schedule", () => {
  const windowsWith = (latestMs: Readonly<Record<string, number>>): readonly number[] => {
    const first = { push: 1, afterMs: 30_000, beforeMs: 30_400, expectedMs: { R1: 30_000 } };
    const missing = { push: 2, expectedMs: { R1: 120_000 }, earliestMs: { R1: 120_000 } };
    const schedule = [
      { ...first, earliestMs: { R1: 30_000 }, latestMs },
      { ...missing, latestMs: { R1: 130_000 } },
    ];
    const facts = { readings: ["R1"], schedule };
    const rules = withResults(ruleThat.passed("push.schedule", 1, facts));
    const html = renderHtml([gateView({ rules })]);
    return [...html.matchAll(/<rect class="window fits"[^>]* width="([\d.]+)%"/g)].map(([, width]) =>
      Number(width),
    );
  };

  it("are as wide as the lateness that the run allows", () => {
    const [wide = 0, usual = 0] = [...windowsWith({ R1: 60_000 }), ...windowsWith({ R1: 34_500 })].filter(
      (_, at) => at % 2 === 0,
    );
    expect(wide).toBeGreaterThan(4 * usual);
  });
});

describe("the page of a load", () => {
  it("says up to which rate a ramp held, and what gave way there", async () => {
    const view = await viewOf("load");
    if (view.kind !== "load") throw new Error("not a load run");
    const gaveWay = {
      name: "list p95",
      limit: 500,
      unit: "ms",
      bound: "at most",
      measured: 812,
      verdict: "breached",
    } as const;
    const breakpoint = { heldTo: 62, endedAt: 81, gaveWay };
    const held = { ...view.record, shape: "breakpoint", rules: [], breakpoint };
    const shown = (record: Partial<typeof view.record>): string =>
      textOf(renderHtml([{ ...view, record: { ...held, ...record } }])).replace(/\s+/g, " ");
    const passed = shown({ outcome: "passed" });
    expect(passed).toContain("Every objective held up to 62 requests per second, where list p95 gave way.");
    expect(passed).toMatch(/Gave way list p95: 812 ms, at most 500 ms, over five seconds/);
    expect(passed).toMatch(/ended at 81 of \d+ requests per second/);
    expect(shown({ outcome: "incomplete" })).toContain("held up to at least 62 requests per second");
    expect(shown({ outcome: "failed", breakpoint: { ...breakpoint, heldTo: 0 } })).toContain(
      "list p95 was missed from the lowest rate of the ramp on",
    );
  });
});
