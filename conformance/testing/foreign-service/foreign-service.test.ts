import { randomBytes } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ConformDocument, RuleDocument } from "../../../reports/json/conform.ts";
import type { RequirementId } from "../../contract/catalogue.ts";
import type { Profile } from "../../contract/profile.ts";
import { runHere } from "../run-here.ts";
import { startForeignService, type ForeignService } from "./start.ts";
import { folderOfFile } from "../folders.ts";

/** What a rule is expected to find, as a pattern that no other fault matches, and why. */
type Findings = Partial<Record<RequirementId, { readonly seen: RegExp; readonly reason: string }>>;

/** The library knows no webhooks, so there are no pushes to judge. */
const sections = "authorize,code,exchange,refresh,access,notifications,whole";

/** Promises of the document that the library breaks, with no option that would change it. */
const divergences: Findings = {
  "authorize.state-charset": {
    seen: /^a state with U\+0020 percent-encoded, .* got a code/,
    reason:
      "a state may hold every visible ASCII character and spaces (RFC 6749 appendix A.5), not letters and digits alone",
  },
  "authorize.state-length": {
    seen: /got a code that can be exchanged/,
    reason: "RFC 6749 sets no length, and neither does the library: 129 bytes and 8,000 are taken",
  },
};

/** Requirements of public standards beyond the document: the gate warns about them, but does not fail. */
const warnings: Findings = {
  "code.reuse-revokes-tokens": {
    seen: /access token still worked after the second exchange/,
    reason:
      "a used code is gone from the store, so the library cannot tell its reuse from a code that never was",
  },
  "service.survives-bad-input": {
    seen: /(\["a"\]|\{"a":1\}) got status 503/,
    reason:
      "the library checks formats by regular expressions, which turn a list or an object into text; the store then fails on it, and the library answers server_error",
  },
};

/** Rules that do not apply to this service. */
const notApplicable: Findings = {
  "authorize.timestamp": {
    seen: /redirect carries no timestamp/,
    reason:
      "the library answers by redirect, as RFC 6749 section 4.1.2 has it, and the adapter passes that on",
  },
};

const clients = ["https://one.example/callback", "https://bücher.example:8443/konto/rückruf?tenant=2"].map(
  (redirectUri) => ({
    id: randomBytes(8).toString("hex"),
    secret: randomBytes(24).toString("base64url"),
    redirectUri,
  }),
);

const folder = folderOfFile();
let service: ForeignService;

const profile = (): Profile => ({
  name: "a service over @node-oauth/oauth2-server",
  baseUrl: service.baseUrl,
  clients: clients.map(({ id, redirectUri }, index) => ({
    id,
    redirectUri,
    secret: { env: `SECRET_${index}` },
  })),
  hooks: {
    clock: {
      now: { http: { url: `${service.controlUrl}/clock` } },
      advance: { http: { url: `${service.controlUrl}/clock/advance`, body: { ms: "{{ms}}" } } },
    },
    events: {
      trigger: { http: { url: `${service.controlUrl}/events`, body: { accountId: "{{accountId}}" } } },
    },
  },
});

/** Judges as a user does: a profile in a file, secrets in the environment. */
const conform = async (name: string, ...more: string[]) => {
  const file = path.join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify(profile()));
  const out = path.join(folder, name);
  const secrets = Object.fromEntries(clients.map(({ secret }, index) => [`SECRET_${index}`, secret]));
  const asked = ["--profile", file, "--section", sections, "--effort", "quick", "--seed", "8", "--out", out];
  const { exitCode, stdout, stderr } = await runHere(["conform", "--json", ...asked, ...more], {
    env: secrets,
  });
  if (stdout === "") throw new Error(`no document; standard error: ${stderr}`);
  return { exitCode, stdout, stderr, out, document: JSON.parse(stdout) as ConformDocument };
};

const of = (document: ConformDocument, ...kinds: RuleDocument["verdict"][]): readonly RuleDocument[] =>
  document.rules.filter(({ verdict }) => kinds.includes(verdict));

/** The findings for comparison with the table: the table's reason for each finding that matches its pattern. */
const compare = (found: readonly RuleDocument[], findings: Findings): Record<string, string> =>
  Object.fromEntries(
    found.map(({ id, breach, reason }) => {
      const finding = findings[id];
      const words = breach?.actual ?? reason ?? "";
      return [id, finding?.seen.test(words) === true ? finding.reason : `not explained: ${words}`];
    }),
  );

const reasonsOf = (findings: Findings): Record<string, string> =>
  Object.fromEntries(Object.entries(findings).map(([id, { reason }]) => [id, reason]));

beforeAll(async () => {
  const files = { store: path.join(folder, "store.sqlite"), clients: path.join(folder, "clients.json") };
  await writeFile(files.clients, JSON.stringify(clients), { mode: 0o600 });
  service = await startForeignService(files);
});

afterAll(async () => {
  await service.stop();
});

describe("the gate on a third-party service", () => {
  let gate: Awaited<ReturnType<typeof conform>>;
  beforeAll(async () => {
    gate = await conform("gate");
  });

  it("fails with exit code 1", () => {
    expect({ exitCode: gate.exitCode, outcome: gate.document.outcome }).toEqual({
      exitCode: 1,
      outcome: "failed",
    });
  });

  it("fails the known divergences, each for its own reason, and no other rule", () => {
    expect(compare(of(gate.document, "failed"), divergences)).toEqual(reasonsOf(divergences));
  });

  it("warns about the known deviations from public standards, and nothing else", () => {
    expect(compare(of(gate.document, "warned"), warnings)).toEqual(reasonsOf(warnings));
  });

  it("judges every other rule, except one that is not applicable", () => {
    const unjudged = gate.document.rules.filter(
      ({ verdict }) => !["passed", "observed", "failed", "warned"].includes(verdict),
    );
    expect(compare(unjudged, notApplicable)).toEqual(reasonsOf(notApplicable));
    expect(unjudged.map(({ verdict }) => verdict)).toEqual(["not-applicable"]);
    expect(of(gate.document, "passed").length).toBeGreaterThan(40);
    expect(of(gate.document, "passed", "failed", "warned").filter(({ cases }) => cases === 0)).toEqual([]);
  });

  it("reproduces every failure in each replay", () => {
    const comesBack = of(gate.document, "failed").map(({ breach }) => breach?.reproduction.replayed);
    for (const replayed of comesBack) expect(replayed?.failures).toBe(replayed?.attempts);
  });

  it("observes behaviour that the document leaves open", () => {
    const observed = Object.fromEntries(
      of(gate.document, "observed").map(({ id, fingerprint }) => [
        id,
        JSON.parse(fingerprint ?? "null") as unknown,
      ]),
    );
    expect(observed).toMatchObject({
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

describe("the third-party service", () => {
  it("ends on SIGTERM, and its codes still work in the next process on the same store", async () => {
    const files = { store: path.join(folder, "other.sqlite"), clients: path.join(folder, "clients.json") };
    const authorize = `/open-api/oauth/authorize?clientId=${clients[0]?.id}&state=a`;
    const before = await startForeignService(files);
    const answer = await fetch(before.baseUrl + authorize, { redirect: "manual" });
    expect(await before.stop()).toBe(0);

    const after = await startForeignService(files);
    const code = new URL(answer.headers.get("location") ?? "").searchParams.get("code");
    const body = JSON.stringify({ clientId: clients[0]?.id, clientSecret: clients[0]?.secret, code });
    const exchanged = await fetch(`${after.baseUrl}/open-api/oauth/access-token`, { method: "POST", body });
    expect({ status: exchanged.status, exitCode: await after.stop() }).toEqual({ status: 200, exitCode: 0 });
  });
});
