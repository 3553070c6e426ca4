import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { RuleDocument } from "../../reports/json/conform.ts";
import { catalogue, type RequirementId } from "../../conformance/contract/catalogue.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import { runHere } from "../../conformance/testing/run-here.ts";
import { stopAfterAll } from "../../conformance/testing/stopping.ts";
import { documentOf, newClients, rulesOf, SECTIONS, whyTheirs, wordsOf, writeProfile } from "./judging.ts";
import { foreignImplementations } from "./implementations.ts";
import { startNodeService, type RunningService } from "./services.ts";

/**
 * What the gate finds in the library; implementations.ts says why. The document's promises fail, and requirements of public
 * standards beyond it are only warned about.
 */
const { examined } = foreignImplementations.find(({ start }) => start === startNodeService) ?? {};
const ofLevel = (isAdvice: boolean) =>
  Object.entries(examined ?? {})
    .filter(([id]) => (catalogue[id as RequirementId].level === "advisory") === isAdvice)
    .map(([id, { seen }]) => [id, seen] as const);
const findings: Partial<Record<RuleDocument["verdict"], readonly (readonly [string, RegExp])[]>> = {
  failed: ofLevel(false),
  warned: ofLevel(true),
  // The library answers by redirect, as RFC 6749 section 4.1.2 has it, and the adapter passes that on.
  "not-applicable": [["authorize.timestamp", /redirect carries no timestamp/]],
};

const clients = newClients(
  "https://one.example/callback",
  "https://bücher.example:8443/konto/rückruf?tenant=2",
);
const folder = folderOfFile();
const stopping = stopAfterAll();
let service: RunningService;
beforeAll(async () => {
  service = await stopping(startNodeService({ folder, clients }));
});

/** Judges as a user does: a profile in a file, secrets in the environment. */
const conform = async (name: string, ...more: string[]) => {
  const { profile, env } = writeProfile(folder, "a service over @node-oauth/oauth2-server", clients, service);
  const out = path.join(folder, name);
  const asked = [
    "--profile",
    profile,
    "--section",
    SECTIONS,
    "--effort",
    "quick",
    "--seed",
    "8",
    "--out",
    out,
  ];
  const ran = await runHere(["conform", "--json", ...asked, ...more], { env });
  return { ...ran, out, document: documentOf(ran) };
};

describe("the gate on a third-party service", () => {
  let gate: Awaited<ReturnType<typeof conform>>;
  let of: (...verdicts: readonly RuleDocument["verdict"][]) => readonly RuleDocument[];
  beforeAll(async () => {
    gate = await conform("gate");
    of = (...verdicts) => rulesOf(gate.document, ...verdicts);
  });

  it("fails with exit code 1", () => {
    expect({ exitCode: gate.exitCode, outcome: gate.document.outcome }).toEqual({
      exitCode: 1,
      outcome: "failed",
    });
  });

  it.each(Object.entries(findings))("finds as %s what is known, and nothing else", (verdict, known) => {
    const found = of(verdict as RuleDocument["verdict"]).map((rule) => [rule.id, wordsOf(rule)]);
    const expected = known.map(([id, seen]) => [id, expect.stringMatching(seen) as string]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });

  it("finds nothing that has not been examined, and another breach of the same rule would be", () => {
    const theirs = (actual?: string) =>
      of("failed", "warned").map((rule) => {
        const { breach } = rule;
        const told = actual === undefined || breach === undefined ? breach : { ...breach, actual };
        return whyTheirs({ ...rule, ...(told && { breach: told }) }, examined ?? {});
      });
    expect(theirs()).not.toContain(undefined);
    expect(new Set(theirs("status 500"))).toEqual(new Set([undefined]));
  });

  it("judges every other rule", () => {
    const judged = of("passed", "observed", "failed", "warned");
    expect(of("not-applicable").length + judged.length).toBe(gate.document.rules.length);
    expect(of("passed").length).toBeGreaterThan(40);
    expect(of("passed", "failed", "warned").filter(({ cases }) => cases === 0)).toEqual([]);
  });

  it("reproduces every failure in each replay", () => {
    const comesBack = of("failed").map(({ breach }) => breach?.reproduction.replayed);
    for (const replayed of comesBack) expect(replayed?.failures).toBe(replayed?.attempts);
  });

  it("observes behaviour that the document leaves open", () => {
    const observed = of("observed").map(({ id, fingerprint = "null" }) => [id, JSON.parse(fingerprint)]);
    expect(Object.fromEntries(observed)).toMatchObject({
      "authorize.redirect": { via: "redirect", status: 302, query: ["code", "state"] },
      "code.failed-attempt": { "a wrong secret": "still works", "another client": "still works" },
      "notifications.order": { order: "newest first" },
      "notifications.tenancy": { secondClient: "sees the same" },
      "refresh.previous-access-token": { exchangedTokenAfterARefresh: "accepted" },
    });
  });

  it("shows no secret in its output and files", async () => {
    const files = (await readdir(gate.out, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    expect(files.length).toBeGreaterThan(0);
    const written = await Promise.all(
      files.map(({ parentPath, name }) => readFile(path.join(parentPath, name), "utf8")),
    );
    const shown = [gate.stdout, gate.stderr, ...written].filter((one) =>
      clients.some(({ secret }) => one.includes(secret)),
    );
    expect(shown.length).toBe(0);
  });
});

describe("the lifetime that the library states", () => {
  // It is what is left once a token is stored, cut to whole seconds.
  it("is a second shorter than the lifetime of its tokens, which is no breach while the clock runs", async () => {
    const { document } = await conform("stated", "--only", "access.lifetime");
    const facts = JSON.stringify(document.rules[0]?.facts);
    expect(document.rules[0]).toMatchObject({ id: "access.lifetime", verdict: "passed" });
    expect(facts).toContain('"lifetimeMs":3599000');
  });
});
