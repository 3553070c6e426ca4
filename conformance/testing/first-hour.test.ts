import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start } from "../../commands/program.ts";
import { startFakeServer, type FakeServer } from "../../fake-server/index.ts";
import { profileOf, secretsOf } from "../../fake-server/profile.ts";
import type { Profile } from "../contract/profile.ts";
import { root } from "./measure.ts";
import { deadOrigin, serveTcp, type TestServer } from "./servers.ts";

/** The mistakes of a first hour: each is answered in one line that says what to do, with its exit code. */

let folder: string;
let fake: FakeServer;
let dead: string;
let closing: TestServer;
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-first-hour-"));
  fake = await startFakeServer({ behaviour: "sound" });
  dead = await deadOrigin();
  closing = await serveTcp((socket) => socket.once("data", () => socket.destroy()));
});
afterAll(async () => {
  await fake.stop();
  await closing.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A command in this process: its exit code, and all that it said. Checks of the doctor are a line each. */
const call = async (given: readonly string[]) => {
  let said = "";
  const stream = {
    write: (text: string) => {
      said += text;
      return true;
    },
    columns: 100,
  };
  const { ended } = start({
    given,
    environment: { ...secretsOf(fake), PATH: "", TEXT_SECRET: "s3cret" },
    streams: { stdout: stream, stderr: stream },
    programFile: path.join(root, "cli.ts"),
  });
  const exitCode = await ended;
  return { exitCode, lines: given[0] === "doctor" ? linesOf(said) : said.split("\n") };
};

interface Told {
  readonly message: string;
  readonly remedy?: string;
}
const linesOf = (said: string): readonly string[] =>
  (JSON.parse(said) as { checks: readonly Told[] }).checks.map(
    ({ message, remedy = "" }) => `${message}; ${remedy}`,
  );

let files = 0;
const fileWith = (text: string, ending: string): string => {
  const file = path.join(folder, `file-${(files += 1)}.${ending}`);
  writeFileSync(file, text, { mode: 0o644 });
  return file;
};
const profile = (change: Record<string, unknown> = {}): string => {
  const { baseUrl, clients } = profileOf(fake);
  const tolerances = { requestTimeoutMs: 500, outageMs: 0 };
  return fileWith(JSON.stringify({ baseUrl, clients, tolerances, ...change }), "json");
};
const withSecret = (secret: unknown): string =>
  profile({ clients: [{ id: "c", secret, redirectUri: "https://client.example/cb" }] });
const doctor = (file: string): readonly string[] => ["doctor", "--json", "--profile", file];
const conform = (file: string): readonly string[] => ["conform", "--profile", file];
const overTls = (address: string): string => address.replace("http:", "https:");
const waiver = (expires: string) => ({ id: "code.single-use", reason: "known", owner: "us", expires });
const advance = (hook: Record<string, unknown>) =>
  profile({ hooks: { clock: { advance: hook } } } satisfies Partial<Record<keyof Profile, unknown>>);

type Mistake = readonly [mistake: string, given: () => readonly string[], exitCode: number, line: RegExp];

const onTheCommandLine: readonly Mistake[] = [
  ["a misspelt command", () => ["confrm"], 2, /unknown command 'confrm'/],
  ["a misspelt flag", () => ["conform", "--profil", "x.json"], 2, /unknown option '--profil'/],
  ["a flag without its value", () => ["conform", "--profile"], 2, /'-p, --profile <file>' argument missing/],
  ["a duration without its unit", () => ["run", "--max-wait", "20"], 2, /--max-wait is "20".*such as 500ms/],
  ["a rate that is no number", () => ["run", "--rate", "fast"], 2, /--rate is "fast".*whole number/],
  [
    "a rule that there is none of",
    () => ["run", "--only", "code.singleuse"],
    2,
    /code\.singleuse.*code\.single-use/,
  ],
  ["a format that there is none of", () => ["run", "--report", "pdf"], 2, /--report is "pdf".*html, junit/],
  [
    "a folder for the record that is in use",
    () => ["conform", "--only", "code.single-use", "--out", root],
    2,
    /--out is ".*something in it; give/,
  ],
  [
    "a behaviour of the fake for a service",
    () => [...conform(profile()), "--behaviour", "sound"],
    2,
    /--behaviour is for the embedded fake; leave it out/,
  ],
  ["a report on a folder that is no run", () => ["report", folder], 2, /no run directory/],
  ["the health of no address", () => ["health", "9444"], 2, /the address is "9444".*http:\/\/127/],
  ["the health of what is not there", () => ["health", dead], 4, /gives no answer: .*ECONNREFUSED/],
  [
    "init without a terminal to ask on",
    () => ["init", "--out", path.join(folder, "new.json")],
    2,
    /--base-url <address>.*--yes/,
  ],
  [
    "init over a profile that is there",
    () => ["init", "--yes", "--out", profile()],
    2,
    /exists already; --force/,
  ],
  [
    "init in a format that there is none of",
    () => ["init", "--yes", "--out", "p.yaml"],
    2,
    /--out is "p\.yaml".*\.mts or \.json/,
  ],
  [
    "init with the secret itself",
    () => ["init", "--yes", "--secret-env", "s3-cret!", "--out", path.join(folder, "n.json")],
    2,
    /--secret-env.*never the secret itself/,
  ],
  [
    "init with an address that goes too far",
    () => [
      "init",
      "--yes",
      "--base-url",
      "https://x.example/open-api/authorize",
      "--out",
      path.join(folder, "n.json"),
    ],
    2,
    /before \/open-api\/: "https:\/\/x\.example"/,
  ],
];

const inTheProfile: readonly Mistake[] = [
  [
    "a profile that is not there",
    () => conform(path.join(folder, "none.json")),
    2,
    /none\.json: there is no such file \(`touchstone init`/,
  ],
  [
    "a folder that is not there",
    () => conform(path.join(folder, "none", "gate.ts")),
    2,
    /gate\.ts: there is no such folder as .*none; correct/,
  ],
  [
    "a folder in place of a profile",
    () => {
      const made = path.join(folder, "folder.json");
      mkdirSync(made, { recursive: true });
      return conform(made);
    },
    2,
    /folder\.json: it is a folder; give a file/,
  ],
  ["a profile in YAML", () => conform(fileWith("baseUrl: x", "yaml")), 2, /accepted are \.json, \.ts/],
  ["JSON with a comma too many", () => conform(fileWith('{ "baseUrl": "http://x", }', "json")), 2, /JSON/],
  [
    "a module without a default export",
    () => conform(fileWith("export const profile = {};", "mts")),
    2,
    /default export/,
  ],
  [
    "an import of what is not installed",
    () => conform(fileWith('import "not-installed-here"; export default {};', "mts")),
    2,
    /not-installed-here.*npm install/,
  ],
  [
    "a misspelt key",
    () => conform(profile({ baseurl: "http://x" })),
    2,
    /unknown key "baseurl" \(did you mean "baseUrl"\?\)/,
  ],
  [
    "an address without http://",
    () => conform(profile({ baseUrl: "localhost:8080" })),
    2,
    /baseUrl is "localhost:8080".*http:\/\//,
  ],
  [
    "a secret written as text",
    () => conform(withSecret("s3cret")),
    2,
    /secret.*never the secret itself: \{ "env": NAME \}/,
  ],
  [
    "a secret's variable that is not set",
    () => conform(withSecret({ env: "NOT_SET" })),
    2,
    /NOT_SET is not set; set it/,
  ],
  [
    "a secret's file that is not there",
    () => conform(withSecret({ file: "none.key" })),
    2,
    /none\.key cannot be read/,
  ],
  [
    "a secret's file that all may read",
    () => conform(withSecret({ file: fileWith("s3cret", "key") })),
    2,
    /accepted is 600 or narrower: chmod 600/,
  ],
  [
    "one client twice",
    () => conform(profile({ clients: [profileOf(fake).clients[0], profileOf(fake).clients[0]] })),
    2,
    /clients\[1\]\.id.*accepted is another client/,
  ],
  [
    "a placeholder that a hook is not given",
    () => conform(advance({ command: ["/bin/true", "{{millis}}"] })),
    2,
    /\{\{millis\}\}.*\{\{ms\}\}/,
  ],
  [
    "a waiver until no day",
    () => conform(profile({ waivers: [waiver("2030-02-31")] })),
    2,
    /"2030-02-31" is no day.*YYYY-MM-DD/,
  ],
  [
    "a load on a host that is not released",
    () => ["load", "--profile", profile({ baseUrl: "http://staging.invalid" })],
    2,
    /"staging\.invalid" may not be loaded.*safety\.hosts/,
  ],
];

const betweenProfileAndService: readonly Mistake[] = [
  [
    "a base address that goes too far",
    () => doctor(profile({ baseUrl: `${fake.baseUrl}/open-api` })),
    2,
    /begin with \/open-api themselves; set baseUrl to .*:\d+$/,
  ],
  [
    "https on a port that speaks http",
    () => doctor(profile({ baseUrl: overTls(fake.baseUrl) })),
    4,
    /speaks no TLS.*; write http:\/\//,
  ],
  [
    "http on a port that closes it",
    () => doctor(profile({ baseUrl: closing.origin })),
    4,
    /closes connections.*; where that port speaks https, write https:\/\//,
  ],
  [
    "a service that is not started",
    () => doctor(profile({ baseUrl: dead })),
    4,
    /nothing listens there.*; start the service/,
  ],
  [
    "a wrong secret",
    () => doctor(profile({ clients: [{ ...profileOf(fake).clients[0], secret: { env: "TEXT_SECRET" } }] })),
    2,
    /wrong one.*clients\[0\]\.secret/,
  ],
  [
    "a clock hook that takes too long",
    () => doctor(advance({ command: ["/bin/sleep", "30"], timeoutMs: 50 })),
    2,
    /did not end within 50 ms; .*`timeoutMs` beside the hook/,
  ],
  [
    "a clock hook that is not there",
    () => doctor(advance({ http: { url: `${fake.baseUrl}/no-such-hook` } })),
    2,
    /hooks\.clock\.advance.*status 404/,
  ],
];

describe.each([
  ["on the command line", onTheCommandLine],
  ["in the profile", inTheProfile],
  ["between profile and service", betweenProfileAndService],
])("a mistake %s is answered in one line, with its exit code", (_, mistakes) => {
  it.each(mistakes)("%s", async (_name, given, exitCode, line) => {
    const answered = await call(given());
    expect(answered.lines.filter((one) => line.test(one))).toHaveLength(1);
    expect(answered.exitCode).toBe(exitCode);
    expect(answered.lines.join("\n")).not.toContain("s3cret");
  });
});

it("health is 0 where the control interface answers", async () => {
  expect(await call(["health", fake.controlUrl])).toMatchObject({ exitCode: 0 });
});

it("there are more than twenty of them", () => {
  expect(onTheCommandLine.length + inTheProfile.length + betweenProfileAndService.length).toBeGreaterThan(28);
});
