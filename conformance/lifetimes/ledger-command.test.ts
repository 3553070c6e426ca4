import { chmodSync, existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { profileOf, secretsOf, startFakeServer } from "../../fake-server/index.ts";
import { runHere } from "../testing/run-here.ts";
import { folderOfFile } from "../testing/folders.ts";

const folder = folderOfFile();
let files = 0;
const fresh = (name: string): string => path.join(folder, `${(files += 1)}-${name}`);
const key = { TOUCHSTONE_LEDGER_KEY: "a key of more than sixteen characters" };

const conform = (parameters: readonly string[], env: Record<string, string> = {}) =>
  runHere(
    ["conform", "--effort", "quick", "--only", "refresh.lifetime", "--out", fresh("run"), ...parameters],
    { env },
  );

describe("a ledger on the command line", () => {
  it("leaves the rule pending with a due date and exit code 3, and `touchstone ledger` lists the entries with the key", async () => {
    const fake = await startFakeServer({});
    const { hooks: _, ...profile } = profileOf(fake);
    const file = fresh("profile.json");
    writeFileSync(file, JSON.stringify(profile));
    const ledger = fresh("ledger");
    const parameters = ["--profile", file, "--ledger", ledger, "--max-wait", "1s"];
    const run = await conform([...parameters, "--json"], { ...secretsOf(fake), ...key });
    await fake.stop();
    expect(run.exitCode).toBe(3);
    const { rules } = JSON.parse(run.stdout) as { rules: { verdict: string; due: string }[] };
    expect(rules[0]).toMatchObject({
      verdict: "pending",
      due: expect.stringMatching(/^\d{4}-\d\d-\d\d/) as string,
    });
    const listed = await runHere(["ledger", ledger], { env: key });
    expect(listed.exitCode).toBe(0);
    expect(listed.stdout).toMatch(/Due \(3\)/);
    expect(listed.stdout).toMatch(/refresh\.lifetime +refreshToken +is refused after 30 d/);
    expect(JSON.parse((await runHere(["ledger", ledger, "--json"], { env: key })).stdout)).toHaveLength(3);
  });

  it.each([
    ["a key that is too short", { TOUCHSTONE_LEDGER_KEY: "secret" }, [], /has 6 characters; accepted are 16/],
    [
      "a key file that does not exist",
      {},
      ["--ledger-key-file", "no-such-file"],
      /no-such-file cannot be read/,
    ],
  ])("is refused with exit code 2 for %s", async (_, env, parameters, message) => {
    const ledger = fresh("ledger");
    const run = await conform(["--ledger", ledger, ...parameters], env);
    expect(run.stderr).toMatch(message);
    expect(run.exitCode).toBe(2);
    expect(existsSync(ledger)).toBe(false);
  });

  it("is refused with exit code 2 for a key file that others may read, as is a key file without a ledger", async () => {
    const file = fresh("key");
    writeFileSync(file, "a key of more than sixteen characters\n");
    chmodSync(file, 0o644);
    const run = await conform(["--ledger", fresh("ledger"), "--ledger-key-file", file]);
    expect(run.stderr).toMatch(
      /--ledger-key-file: the file .* has mode 644, so others can read the key in it/,
    );
    expect(run.exitCode).toBe(2);
    const alone = await conform(["--ledger-key-file", file]);
    expect(alone.stderr).toMatch(/--ledger-key-file needs --ledger/);
    expect(alone.exitCode).toBe(2);
  });
});
