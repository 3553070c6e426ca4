import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { catalogue, requirementIds } from "../../conformance/contract/catalogue.ts";
import { countersOf } from "../../conformance/testing/fake.ts";
import { runHere } from "../../conformance/testing/run-here.ts";
import { startCli } from "../../conformance/testing/start-cli.ts";
import { profileOf, secretsOf, startFakeServer, type FakeServer } from "../index.ts";
import type { ReceiverAddresses } from "./receive.ts";
import { stopAfterAll } from "../../conformance/testing/stopping.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

/** The receiver in its own process, as on staging. */

const tokens = { RECEIVER_TOKEN: "the-right-token", WRONG_TOKEN: "another-token" };

const folder = folderOfFile();
let service: FakeServer;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
const stopping = stopAfterAll();
beforeAll(async () => {
  service = await stopping(startFakeServer({ clockMode: "frozen" }));
  receiver = await startReceiver();
});

let places = 0;
const place = (name: string): string => path.join(folder, `${(places += 1)}-${name}`);

/** A receiver that other machines could reach, under its public host. */
const startReceiver = async () => {
  const journal = place("pushes.jsonl");
  const asked = ["--host=0.0.0.0", "--public-host=127.0.0.1", "--token-env=RECEIVER_TOKEN", "--json"];
  const places = [`--journal=${journal}`, `--certificate-folder=${place("certificates")}`];
  const started = await stopping(startCli(["receive", ...asked, ...places], { env: tokens }));
  const { controlUrl } = (await started.document()) as ReceiverAddresses;
  return { stop: started.stop, journal, controlUrl };
};

/** The service's profile, with the receiver attached by this token. */
const profileWith = (controlUrl: string, token?: { readonly env: string }): string => {
  const file = place("profile.json");
  const attach = { controlUrl, ...(token === undefined ? {} : { token }) };
  writeFileSync(file, JSON.stringify({ ...profileOf(service), receiver: { attach } }));
  return file;
};

const conform = (profile: string, ...parameters: readonly string[]) =>
  runHere(["conform", "--profile", profile, "--effort", "quick", "--out", place("run"), ...parameters], {
    env: { ...tokens, ...secretsOf(service) },
  });

describe("an attached receiver", () => {
  /** A push run takes some 67 moves for 150 events; where connections broke on a busy machine, a second one decides. */
  it("lets every required and derived push rule pass, in few moves of a frozen clock", async () => {
    const profile = profileWith(receiver.controlUrl, { env: "RECEIVER_TOKEN" });
    const { exitCode, stdout, stderr } = await conform(profile, "--section", "push", "--json");
    const { outcome, rules } = JSON.parse(stdout) as {
      outcome: string;
      rules: { id: string; verdict: string }[];
    };
    const gating = requirementIds.filter(
      (id) => catalogue[id].group === "push" && ["required", "derived"].includes(catalogue[id].level),
    );
    const judged = new Map(rules.map((rule) => [rule.id, rule]));
    expect(gating.map((id) => judged.get(id)).filter((rule) => rule?.verdict !== "passed")).toEqual([]);
    expect({ outcome, exitCode }).toEqual({ outcome: "passed", exitCode: 0 });
    for (const text of [stdout, stderr]) expect(text).not.toContain(tokens.RECEIVER_TOKEN);
    const { clockMoves, events } = await countersOf(service);
    expect(clockMoves).toBeGreaterThan(20);
    expect(clockMoves / events).toBeLessThan(0.8);
  });

  it.each([
    ["another token", { env: "WRONG_TOKEN" }, /refuses the token of receiver\.attach\.token/],
    ["no token", undefined, /requires a token.*the profile has no receiver\.attach\.token/],
  ])("makes conform exit with 2 when given %s", async (_, token, message) => {
    const profile = profileWith(receiver.controlUrl, token);
    const { exitCode, stdout, stderr } = await conform(profile, "--only", "push.cap");
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain(tokens.WRONG_TOKEN);
    expect(stdout).toBe("");
    expect(exitCode).toBe(2);
  });

  it("leaves the run incomplete, without a breach, when it is killed during the run", async () => {
    const { stop, journal, controlUrl } = await startReceiver();
    const profile = profileWith(controlUrl, { env: "RECEIVER_TOKEN" });
    const judging = conform(profile, "--only", "push.cap,code.unknown", "--json");
    await expect.poll(() => pushesIn(journal), { interval: 10 }).toBeGreaterThan(10);
    await stop("SIGKILL");
    const { exitCode, stdout } = await judging;
    const { rules } = JSON.parse(stdout) as { rules: { id: string; verdict: string; reason?: string }[] };
    expect(rules).toMatchObject([
      { id: "code.unknown", verdict: "passed" },
      {
        id: "push.cap",
        verdict: "could-not-run",
        missing: "receiver",
        reason: expect.stringContaining(controlUrl),
      },
    ]);
    expect(exitCode).toBe(3);
  });
});

const pushesIn = (journal: string): number => {
  try {
    return readFileSync(journal, "utf8").match(/"kind":"push"/g)?.length ?? 0;
  } catch {
    return 0;
  }
};
