import { describe, expect, it } from "vitest";
import { behaviourFrom } from "../../fake-server/registry.ts";
import type { RequirementId } from "../contract/catalogue.ts";
import { detect, type DetectOptions } from "./detect.ts";
import { detectShard, mergeDetections, parseShard } from "./detect-shards.ts";
import { ConfigurationError } from "../contract/problem.ts";
import type { Rule } from "../checks/rule.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { deadOrigin } from "../testing/servers.ts";

/** A rule that fails if the service is named after it. */
const seeing = (requirement: Rule["requirement"]): Rule => ({
  requirement,
  check: (world) =>
    Promise.resolve(
      world.client.redirectUri.includes(requirement)
        ? {
            kind: "failed",
            cases: 3,
            breach: {
              expected: "right",
              actual: "wrong",
              evidence: [],
              reproduction: { seed: 1, replayed: { failures: 1, attempts: 1 } },
            },
          }
        : { kind: "passed", cases: 5 },
    ),
});

const rules = [seeing("code.unknown"), seeing("code.single-use"), seeing("code.bound-to-client")];

/** Services whose name says which of these rules will fail on them. */
const options = (more: { readonly full?: boolean } = {}): Omit<DetectOptions, "subjects"> => ({
  ...runOptions(),
  rules,
  full: false,
  start: async (name) => {
    const fake = await startFake({ behaviour: behaviourFrom(name, { summary: name, replaces: () => ({}) }) });
    const clients = (await fake.resolved()).profile.clients.map((client) => ({
      ...client,
      redirectUri: `${client.redirectUri}?${name}`,
    }));
    const accepting = await fake.resolved(name.includes("down") ? { baseUrl: await deadOrigin() } : {});
    const resolved = {
      ...accepting,
      clients: accepting.clients.map((client, index) => ({
        ...client,
        redirectUri: clients[index]?.redirectUri ?? client.redirectUri,
      })),
    };
    return { resolved, stop: fake.stop };
  },
  ...more,
});

const defect = (name: string, ...breaks: RequirementId[]) => ({ name, kind: "defect" as const, breaks });
const variant = (name: string) => ({ name, kind: "variant" as const, breaks: [] });

describe("detection", () => {
  it("counts a defect as killed only if every rule that it breaks failed", async () => {
    const report = await detect({
      ...options(),
      subjects: [
        defect("code.unknown", "code.unknown"),
        defect("code.single-use", "code.unknown"),
        defect("code.unknown+code.single-use", "code.unknown", "code.single-use"),
        defect("code.unknown alone", "code.unknown", "code.single-use"),
        defect("code.bound-to-client", "code.bound-to-client"),
      ],
    });
    expect(report.defects).toMatchObject({ total: 5, killed: 3 });
    const survivors = report.defects.survivors.map(({ name, rule, verdict }) => [name, rule, verdict]);
    expect(survivors.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))).toEqual([
      ["code.single-use", "code.unknown", "passed"],
      ["code.unknown alone", "code.single-use", "passed"],
    ]);
    expect(report.defects.kills).toContainEqual({ defect: "code.unknown", rule: "code.unknown", cases: 3 });
  });

  it("reports every false alarm on a variant, and does not count a warning as one", async () => {
    const report = await detect({
      ...options(),
      subjects: [variant("quiet"), variant("code.unknown"), variant("code.bound-to-client")],
    });
    expect(report.variants).toMatchObject({ total: 3, unsettled: [] });
    expect(report.variants.falseAlarms).toEqual([
      { variant: "code.unknown", rule: "code.unknown", expected: "right", actual: "wrong" },
    ]);
  });

  it("lets a variant leave open only what it declares", async () => {
    const open: Rule = {
      requirement: "code.lifetime",
      check: () =>
        Promise.resolve({ kind: "inconclusive", reason: "clients are locked out", settle: "", cases: 0 }),
    };
    const report = await detect({
      ...options(),
      rules: [open],
      leavesOpen: { declared: ["code.lifetime"] },
      subjects: [variant("declared"), variant("undeclared")],
    });
    expect(report.variants.unsettled.map(({ variant: name }) => name)).toEqual(["undeclared"]);
  });

  it("does not count a service that the preflight refuses as killed or free of false alarms", async () => {
    const report = await detect({
      ...options(),
      subjects: [defect("down", "code.unknown"), variant("down too")],
    });
    expect(report.defects).toMatchObject({ total: 1, killed: 0 });
    expect(report.defects.survivors[0]?.reason).toContain("the preflight refused the service");
    expect(report.variants.unsettled).toHaveLength(3);
  });

  it("judges every defect by every rule and returns the matrix if it is full", async () => {
    const report = await detect({
      ...options({ full: true }),
      subjects: [defect("code.single-use", "code.unknown")],
    });
    expect(report.matrix).toEqual([
      {
        defect: "code.single-use",
        breaks: ["code.unknown"],
        verdicts: { "code.unknown": "passed", "code.single-use": "failed", "code.bound-to-client": "passed" },
      },
    ]);
    expect(report.defects.killed).toBe(0);
  });

  it("attributes a false alarm of a bundle to the variant that raises it", async () => {
    const bundle = { ...variant("quiet and code.unknown"), members: ["quiet", "code.unknown"] };
    const report = await detect({ ...options(), subjects: [bundle] });
    expect(report.variants).toMatchObject({ total: 2, judged: 2 });
    expect(report.variants.falseAlarms.map(({ variant: name }) => name)).toEqual(["code.unknown"]);
  });
});

describe("shards", () => {
  it("are parsed as i/n, and together cover the list once", async () => {
    expect(parseShard(undefined)).toEqual({ index: 0, count: 1 });
    for (const text of ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3"])
      expect(() => parseShard(text)).toThrow(ConfigurationError);
    const known = {
      defects: {
        "code.unknown": { breaks: ["code.unknown" as const] },
        none: { breaks: ["code.unknown" as const] },
      },
      variants: [["one"], ["two", "three"]],
      joint: " and ",
    };
    const parts = await Promise.all(
      ["1/2", "2/2"].map((text) => detectShard(parseShard(text), { ...options(), ...known })),
    );
    const merged = mergeDetections(parts);
    expect(merged).toMatchObject({
      defects: { total: 2, killed: 1 },
      variants: { total: 3, falseAlarms: [] },
    });
    expect(merged.durationMs).toBe(Math.max(...parts.map(({ durationMs }) => durationMs)));
    expect(() => detectShard(parseShard("1/1"), { ...options(), ...known, names: ["code.unknwon"] })).toThrow(
      /no such defect or variant.*code\.unknown/,
    );
  });
});
