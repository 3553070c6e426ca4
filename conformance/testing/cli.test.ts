import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { catalogue, requirementIds } from "../contract/catalogue.ts";
import type { Profile } from "../contract/profile.ts";
import { profileOf, secretsOf, startFakeServer } from "../../fake-server/index.ts";
import { readGateRun } from "../../reports/read/index.ts";
import { root, runCli } from "./measure.ts";
import { runHere } from "./run-here.ts";
import { startCli } from "./start-cli.ts";
import { folderOfFile } from "./folders.ts";
import { stopAfterEach } from "./stopping.ts";

/** The command line as users see it, in a process of its own where start, signals or end matter. */

const folder = folderOfFile();
const stopping = stopAfterEach();

let files = 0;
const fileWith = (text: string, ending = "json"): string => {
  const file = path.join(folder, `file-${(files += 1)}.${ending}`);
  writeFileSync(file, text);
  return file;
};
const newDirectory = (): string => path.join(folder, `run-${(files += 1)}`);

const profileFor = (baseUrl: string, change: Record<string, unknown> = {}): string =>
  fileWith(
    JSON.stringify({
      baseUrl,
      clients: [{ id: "c", secret: { env: "TEST_SECRET" }, redirectUri: "https://client.example/cb" }],
      ...change,
    } satisfies Partial<Profile> & Record<string, unknown>),
  );

const env = { TEST_SECRET: "a-secret-that-must-not-be-seen" };

describe("the process", () => {
  it("exits with 2 and prints the help if there is no command", async () => {
    const { exitCode, stderr } = await runCli([]);
    expect(stderr).toContain("conform");
    expect(exitCode).toBe(2);
  });
});

describe("without --profile, a command judges", () => {
  const asked = "conform --only exchange.no-store --effort quick".split(" ");
  /** Runs in a new folder with these profiles, whose services are all down. */
  const judged = async (
    names: readonly string[],
    further: readonly string[] = [],
    environment: NodeJS.ProcessEnv = {},
  ) => {
    const cwd = newDirectory();
    mkdirSync(cwd);
    for (const name of names) copyFileSync(profileFor("http://127.0.0.1:9"), path.join(cwd, name));
    process.chdir(cwd);
    const call = runHere([...asked, ...further], { env: { ...env, CI: "", ...environment } });
    return call.finally(() => process.chdir(root));
  };

  it("the profile of the folder, and says so first", async () => {
    const loud = await judged(["touchstone.config.json"]);
    expect(loud.stderr).toMatch(/^Profile touchstone\.config\.json of this folder; --fake judges/);
    const quiet = await judged(["touchstone.config.json"], ["-q"]);
    for (const { exitCode, stderr } of [loud, quiet]) {
      expect(stderr).toContain("http://127.0.0.1:9 cannot be reached");
      expect(exitCode).toBe(4);
    }
  });

  it("the embedded fake beside a profile only with --fake or --behaviour", async () => {
    for (const asked of ["--fake", "--behaviour=sound"])
      expect(await judged(["touchstone.config.json"], [asked])).toMatchObject({ exitCode: 0 });
    const both = await judged([], ["--fake", "--profile", "gate.json"]);
    expect(both.stderr).toMatch(/'--fake' cannot be used with option '-p, --profile <file>'/);
    expect(both.exitCode).toBe(2);
  });

  it("none of several", async () => {
    const { exitCode, stderr } = await judged(["touchstone.config.json", "touchstone.config.mjs"]);
    expect(stderr).toContain(
      "this folder holds touchstone.config.mjs and touchstone.config.json; name one of them with --profile",
    );
    expect(exitCode).toBe(2);
  });

  it("what TOUCHSTONE_PROFILE names, unless --profile is there or the embedded fake is asked for", async () => {
    const named = { TOUCHSTONE_PROFILE: "of-the-variable.json" };
    const folder = ["touchstone.config.json"];
    expect((await judged(folder, [], named)).stderr).toContain("of-the-variable.json: there is no such file");
    expect((await judged(folder, ["-p", "flag.json"], named)).stderr).toContain(
      "flag.json: there is no such",
    );
    expect(await judged(folder, ["--fake"], named)).toMatchObject({ exitCode: 0 });
  });

  it("with the seed and effort of their variables, unless flags give them", async () => {
    const environment = { TOUCHSTONE_SEED: "7", TOUCHSTONE_EFFORT: "thorough" };
    const { stdout } = await judged([], ["--seed", "8", "--effort=quick", "--json"], environment);
    expect(JSON.parse(stdout)).toMatchObject({ seed: 8, effort: "quick" });
    const whole = await runHere(
      ["conform", "--only", "exchange.no-store", "--json", "--out", newDirectory()],
      {
        env: environment,
      },
    );
    expect(JSON.parse(whole.stdout)).toMatchObject({ seed: 7, effort: "thorough" });
  });

  it.each([
    ["TOUCHSTONE_SEED", "1.5", 'TOUCHSTONE_SEED: --seed is "1.5"; accepted is a whole number'],
    ["TOUCHSTONE_EFFORT", "huge", 'TOUCHSTONE_EFFORT: --effort is "huge"; accepted is one of quick'],
    ["TOUCHSTONE_PROFILE", "", 'TOUCHSTONE_PROFILE is ""; accepted is a value; unset it otherwise'],
  ])("nothing if %s is %j", async (variable, value, message) => {
    const seedless = ["conform", "--only", "code.unknown"];
    const { exitCode, stderr } = await runHere(seedless, { env: { [variable]: value } });
    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
  });
});

describe("run exits with 2 before the gate, for a load that cannot be played because of", () => {
  const refused = async (parameters: readonly string[], environment: NodeJS.ProcessEnv) => {
    const cwd = newDirectory();
    mkdirSync(cwd);
    process.chdir(cwd);
    const { exitCode, stderr, stdout } = await runHere(["run", ...parameters], {
      env: { ...env, TOUCHSTONE_K6: undefined, PATH: "/nowhere", ...environment },
    }).finally(() => process.chdir(root));
    expect({ exitCode, stdout, written: readdirSync(cwd) }).toEqual({ exitCode: 2, stdout: "", written: [] });
    return stderr;
  };

  // Nothing listens at these addresses: had the gate begun, it would have ended with exit code 4.
  it("a host that is not allowed, and a rate and duration above the profile's limits", async () => {
    const safety = { maxRate: 50, maxDurationMs: 3_000 };
    const profile = profileFor("http://staging.invalid", { safety });
    const stderr = await refused(["--profile", profile, "--rate", "51", "--duration", "4s"], {});
    expect(stderr).toMatch(/host "staging\.invalid" may not be loaded.*safety\.hosts/);
    expect(stderr).toMatch(/--rate is 51.*safety\.maxRate/);
    expect(stderr).toMatch(/--duration is 4 s.*safety\.maxDurationMs/);
  });

  it("network settings that k6 cannot follow", async () => {
    const profile = profileFor("http://127.0.0.1:1", { network: { resolve: { "127.0.0.1": "127.0.0.1" } } });
    expect(await refused(["--profile", profile], {})).toContain(
      "network.resolve: a load run cannot follow it",
    );
  });

  it.each([
    ["an unusable k6", { TOUCHSTONE_K6: "/nowhere/k6" }, /TOUCHSTONE_K6 is "\/nowhere\/k6"/],
    [
      "a missing k6, in a home that cannot be written",
      { HOME: "/proc/none" },
      /cannot be written.*TOUCHSTONE_CACHE/s,
    ],
    ["a missing k6", { TOUCHSTONE_CACHE: "/dev/null/cache" }, /PATH.*no k6 on it.*TOUCHSTONE_CACHE/s],
  ])("%s", async (_, environment, message) => {
    expect(await refused(["--effort", "quick"], environment)).toMatch(message);
  });
});

it("a load exits with 2 and the true cause if temporary files have nowhere to go", async () => {
  const asked = ["load", "--fake", "--rate", "5", "--duration", "1s", "--out", newDirectory()];
  const { exitCode, stderr } = await runCli(asked, { env: { TMPDIR: "/none" } });
  expect(stderr).toBe(
    "touchstone: TMPDIR: the folder for temporary files, /none, cannot be written (there is no such folder); set TMPDIR to a writable folder\n",
  );
  expect(exitCode).toBe(2);
});

it("run whose load cannot be played ends with the breach that its gate found, and says what failed", async () => {
  const k6 = fileWith("#!/bin/sh\n[ \"$1\" = version ] && echo 'k6 v1.8.1' && exit 0\nexit 1\n", "sh");
  chmodSync(k6, 0o700);
  const run = (behaviour: string) =>
    runHere(
      `run --behaviour ${behaviour} --only exchange.token-set --effort quick --rate 5 --duration 2s --json --out ${newDirectory()}`.split(
        " ",
      ),
      { env: { TOUCHSTONE_K6: k6 } },
    );
  const held = await run("sound");
  expect(held.exitCode).toBeGreaterThan(1);
  const broken = await run("exchange-without-expires-in");
  for (const { stderr } of [held, broken]) expect(stderr).toContain("k6");
  expect(broken.exitCode).toBe(1);
  for (const { exitCode, stdout } of [held, broken])
    expect(JSON.parse(stdout)).toMatchObject({ exitCode, load: null });
});

describe("a command on a target that cannot be judged", () => {
  it.each(["conform", "load --scenario token --rate 5 --duration 2s"])(
    "exits with 4 and writes the reason into every report if the target is down: %s",
    async (command) => {
      const out = newDirectory();
      const profile = profileFor("http://127.0.0.1:9");
      const asked = ["--report", "html,junit,ctrf,markdown", "--out", out];
      const { exitCode, stderr } = await runHere([...command.split(" "), "--profile", profile, ...asked], {
        env,
      });
      expect(stderr).toMatch(/cannot be reached/);
      expect(exitCode).toBe(4);
      for (const file of ["report.html", "junit.xml", "ctrf.json", "summary.md"])
        expect(readFileSync(path.join(`${out}-report`, file), "utf8")).toMatch(
          /(cannot|could not) be reached[^]*refused/i,
        );
    },
  );
});

describe("conform", () => {
  it("prints one document with every selected rule, and nothing else, with --json", async () => {
    const asked = ["--json", "--section", "authorize,access", "--effort", "quick", "--out", newDirectory()];
    const { exitCode, stdout } = await runHere(["conform", ...asked]);
    const document = JSON.parse(stdout) as {
      outcome: string;
      exitCode: number;
      rules: { id: string; verdict: string }[];
    };
    const expected = requirementIds.filter((id) => ["authorize", "access"].includes(catalogue[id].group));
    expect(document.rules.map(({ id }) => id)).toEqual(expected);
    // Whole entries, so that a failure says why.
    expect(document.rules.filter(({ verdict }) => !["passed", "observed"].includes(verdict))).toEqual([
      expect.objectContaining({ id: "authorize.unregistered-redirect", verdict: "not-applicable" }),
    ]);
    expect(document.rules.some(({ verdict }) => verdict === "observed")).toBe(true);
    expect(document).toMatchObject({ outcome: "passed", exitCode: 0 });
    expect(exitCode).toBe(0);
  });

  it("prints broken rules in full, and passed rules only with --verbose", async () => {
    const broken = ["--behaviour", "code-reusable", "--only", "code.single-use,code.unknown"];
    const asked = ["conform", ...broken, "--effort", "quick"];
    const [short, long] = await Promise.all([
      runHere([...asked, "--out", newDirectory()]),
      runHere([...asked, "--verbose", "--out", newDirectory()]),
    ]);
    for (const { stdout } of [short, long]) expect(stdout).toMatch(/✗ code\.single-use\b.*#\d+ .*replay/s);
    expect(long.stdout).toMatch(/✓ code\.unknown\b/);
    expect(short.stdout).not.toMatch(/✓ code\.unknown\b/);
  });

  it("keeps its exit code if the reader of its output goes away", async () => {
    const { child, closed } = startCli(["conform", "--only", "exchange.no-store", "--out", newDirectory()]);
    child.stdout?.destroy();
    expect(await closed).toBe(0);
  });

  it.each([1, 2])("exits with 130 and a readable record after %i interrupt(s)", async (times) => {
    const out = newDirectory();
    const asked = ["--effort", "thorough", "--section", "code,refresh", "--out", out];
    const { child, closed } = startCli(["conform", ...asked]);
    // Rules begin to settle once their first lines are in the record.
    await expect.poll(() => lines(path.join(out, "exchanges.jsonl")), { interval: 50 }).toBeGreaterThan(200);
    for (let n = 0; n < times; n += 1) child.kill("SIGINT");
    expect(await closed).toBe(130);
    const record = (await readGateRun(out)).record;
    expect(record.outcome ?? "open").toMatch(/interrupted|open/);
    expect(record.state).toBe(times === 1 ? "sealed" : record.state);
  });
});

const lines = (file: string): number => {
  try {
    return readFileSync(file, "utf8").split("\n").length;
  } catch {
    return 0;
  }
};

describe("a service that a profile names", () => {
  const environment: Record<string, string> = {};
  /** Writes the profile of a fake that this starts. */
  const serve = async (
    behaviour: string,
    change = (profile: Profile): Profile => profile,
  ): Promise<string> => {
    const fake = await stopping(startFakeServer({ behaviour }));
    Object.assign(environment, secretsOf(fake));
    return fileWith(JSON.stringify(change(profileOf(fake))));
  };

  it("with a defect fails the right rule with exit code 1, and replay says whether it still fails", async () => {
    const profile = await serve("code-lives-eleven-minutes");
    const out = newDirectory();
    const asked = ["--only", "code.lifetime,code.single-use", "--effort", "quick"];
    const run = await runHere(["conform", "--profile", profile, ...asked, "--out", out], {
      env: environment,
    });
    expect(run.stdout).toMatch(/✗ code\.lifetime\b/);
    expect(run.exitCode).toBe(1);
    const replayed = await runHere(["replay", out, "code.lifetime"], { env: environment });
    expect(replayed.stdout).toContain("still fails");
    expect(replayed.exitCode).toBe(1);
    const other = ["--profile", await serve("sound")];
    const sound = await runHere(["replay", out, "code.lifetime", ...other], { env: environment });
    expect(sound.stdout).toContain("fixed");
    expect(sound.exitCode).toBe(0);
  });
});
