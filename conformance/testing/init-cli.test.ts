import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startFakeServer } from "../../fake-server/index.ts";
import { profileOf, secretsOf } from "../../fake-server/serve.ts";
import { runHere } from "./run-here.ts";
import { stopAfterAll } from "./stopping.ts";
import { folderOfFile } from "./folders.ts";

/** From nothing to a judged service, as a new user goes: init, doctor, conform. */

const folder = folderOfFile();
const fake = await stopAfterAll()(startFakeServer({ behaviour: "code-reusable-twice" }));

const at = (name: string): string => path.join(folder, name);

describe("a new user", () => {
  it("runs init, doctor and conform with a layered profile and a waiver", async () => {
    const [client] = fake.clients;
    if (client === undefined) throw new Error("the fake has clients");
    const profile = at("touchstone.config.ts");
    const flags = {
      "--base-url": "https://to-be-replaced.invalid",
      "--client-id": client.id,
      "--secret-env": "TOUCHSTONE_FAKE_SECRET_1",
      "--redirect-uri": client.redirectUri,
      "--out": profile,
    };
    const init = await runHere(["init", ...Object.entries(flags).flat()]);
    expect(init).toMatchObject({ exitCode: 0, stdout: `${profile}\n` });

    // The breach is known: its waiver is in the layer of this environment.
    const { baseUrl, hooks } = profileOf(fake);
    const waivers = [
      { id: "code.single-use", reason: "known", owner: "the token team", expires: "2999-12-31" },
    ];
    writeFileSync(at("staging.json"), JSON.stringify({ baseUrl, hooks, waivers }));
    const layers = ["--profile", profile, "--profile", at("staging.json")];
    const env = secretsOf(fake);
    const doctor = await runHere(["doctor", ...layers], { env });
    expect(doctor.exitCode, doctor.stdout).toBe(0);
    expect(doctor.stdout).toContain("waiver of code.single-use");

    const conform = ["conform", ...layers, "--only", "code.single-use", "--effort", "quick"];
    const waived = await runHere([...conform, "--out", at("run-1")], { env });
    expect(waived.exitCode, waived.stdout).toBe(0);
    expect(waived.stdout).toContain("Known breaches, waived for now (1)");
    expect(waived.stdout).toContain("until 2999-12-31 by the token team: known");

    writeFileSync(
      at("staging.json"),
      JSON.stringify({ baseUrl, hooks, waivers: [{ ...waivers[0], expires: "2020-01-01" }] }),
    );
    const expired = await runHere([...conform, "--json", "--out", at("run-2")], { env });
    expect(expired.exitCode).toBe(1);
    expect(JSON.parse(expired.stdout)).toMatchObject({
      outcome: "failed",
      waivers: [{ id: "code.single-use", state: "expired" }],
      target: { profiles: [profile, at("staging.json")] },
    });
  });

  it("gets every mistake in the profile from doctor, with exit code 2", async () => {
    writeFileSync(at("broken.json"), JSON.stringify({ baseurl: fake.baseUrl, clients: [] }));
    const { exitCode, stdout } = await runHere(["doctor", "--json", "--profile", at("broken.json")]);
    expect(exitCode).toBe(2);
    const { checks } = JSON.parse(stdout) as { checks: { check: string; ok: unknown; message: string }[] };
    const mistakes = checks.filter(({ ok }) => ok === false).map(({ message }) => message);
    expect(mistakes).toEqual([
      expect.stringContaining('lacks the key "baseUrl"'),
      expect.stringContaining('unknown key "baseurl"'),
      expect.stringContaining("clients"),
    ]);
  });
});
