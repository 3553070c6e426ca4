import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { root } from "../../conformance/testing/measure.ts";
import { runHere } from "../../conformance/testing/run-here.ts";
import { duetExitCode, type DuetDocument } from "../../reports/duet/document.ts";
import { schemaOf } from "../../reports/schemas.ts";
import { k6OfFile } from "./testing/load-here.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import { freePort, isAnswering, serveHttp } from "../../conformance/testing/servers.ts";

/** `touchstone duet` with the real k6, and a service that it starts. */

const folder = folderOfFile();
const k6 = k6OfFile();
const withK6 = () => ({ TOUCHSTONE_K6: k6.path, TEST_SECRET: "MARKED-secret" });
const client = { id: "client-a", redirectUri: "https://client-a.example/callback" };
const clients = JSON.stringify([{ ...client, secret: "MARKED-secret" }]);
writeFileSync(path.join(folder, "clients.json"), clients, { mode: 0o600 });

let files = 0;
const fresh = (): string => path.join(folder, "runs", `duet-${(files += 1)}`);

/** A profile of a service that is not started yet, and the command that starts it, through a shell as in practice. */
const toBeStarted = async () => {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const file = path.join(folder, `profile-${port}.json`);
  writeFileSync(file, JSON.stringify({ baseUrl, clients: [{ ...client, secret: { env: "TEST_SECRET" } }] }));
  const serve = `${process.execPath} ${path.join(root, "cli.ts")} serve --port ${port}`;
  return { baseUrl, file, command: `${serve} --clients ${path.join(folder, "clients.json")} & wait` };
};

const documentIn = (directory: string): DuetDocument =>
  JSON.parse(readFileSync(path.join(directory, "duet.json"), "utf8")) as DuetDocument;

const short = ["--block", "2s", "--rate", "40", "--seed", "1"];

describe.concurrent("a duet", () => {
  it("starts the service, plays in turns, writes its document, and stops the service", async () => {
    const b = await toBeStarted();
    const out = fresh();
    const start = ["--start-b", b.command];
    const asked = ["duet", "fake:sound", b.file, ...start, "--pairs", "2", ...short, "--out", out, "--json"];
    const run = await runHere(asked, { env: withK6() });
    const { run: told, ...printed } = JSON.parse(run.stdout) as DuetDocument & { readonly run: string };
    const document = documentIn(out);
    expect(told).toBe(out);
    expect(printed).toEqual(document);
    const isDuet = new Ajv({ strictTypes: false, formats: { "date-time": true } }).compile(schemaOf("duet"));
    expect(isDuet(document), JSON.stringify(isDuet.errors)).toBe(true);
    expect(document).toMatchObject({ state: "ended", planned: 2, a: "fake:sound", b: b.file, broken: [] });
    // The speed of each side in two pairs depends on the machine, which may have spoilt some; the exit code must match.
    expect(run.exitCode).toBe(duetExitCode(document));
    expect(new Set(document.blocks.map(({ side }) => side))).toEqual(new Set(["a", "b"]));
    expect(document.blocks.map(({ endpoint }) => endpoint)).not.toContain("trigger");
    const counted = document.blocks.filter(({ endpoint }) => endpoint !== "");
    expect(counted.every(({ requests = 0, failed = -1 }) => failed >= 0 && requests >= failed)).toBe(true);
    expect(document.failures === undefined).toBe(document.pairs === 0);
    expect(readdirSync(path.join(out, "blocks")).slice(0, 4)).toEqual(["001-a", "001-b", "002-a", "002-b"]);
    expect(await isAnswering(b.baseUrl)).toBe(false);
    expect(JSON.stringify(document) + run.stderr).not.toContain("MARKED-secret");

    const history = await runHere(["history", path.dirname(out), "--json"]);
    expect(JSON.parse(history.stdout)).toMatchObject({ runs: [], problems: [] });
  });

  it("exits with 130 when interrupted, keeps the pairs that were played, and stops the service", async () => {
    const b = await toBeStarted();
    const out = path.join(folder, "interrupted");
    const parameters = ["fake:sound", b.file, "--start-b", b.command, "--pairs", "9", ...short, "--out", out];
    const interruptAt = /pair 2 of 9, [ab]/;
    const { exitCode } = await runHere(["duet", ...parameters], { env: withK6(), interruptAt });
    expect(exitCode).toBe(130);
    const { state, blocks, planned } = documentIn(out);
    expect({ state, planned }).toEqual({ state: "interrupted", planned: 9 });
    expect(new Set(blocks.map(({ pair }) => pair))).toEqual(new Set([0]));
    expect(await isAnswering(b.baseUrl)).toBe(false);
  });
});

describe("a duet exits with 2 before any load", () => {
  const failing = async (a: string, b: string, ...flags: readonly string[]) => {
    const parameters = ["duet", a, b, "--out", fresh(), ...flags];
    const { exitCode, stderr, stdout } = await runHere(parameters, { env: withK6() });
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    return stderr;
  };

  it("if a start command ends at once, and quotes its output", async () => {
    const { file } = await toBeStarted();
    const stderr = await failing(file, "fake:sound", "--start-a", "echo no database; exit 7");
    expect(stderr).toMatch(/--start-a: it ended with exit code 7 before anything answered[^]*no database/);
  });

  it("if its folder has something in it, which it leaves alone", async () => {
    const used = path.join(folder, "used");
    mkdirSync(path.join(used, "blocks"), { recursive: true });
    const stderr = await failing("fake:sound", "fake:sound", "--out", used);
    expect(stderr).toContain(`--out is "${used}", a folder that is not empty`);
    expect(readdirSync(used)).toEqual(["blocks"]);
  });

  it("if something already answers at the address of a start command", async () => {
    const { file } = await toBeStarted();
    const { origin, stop } = await serveHttp((_, response) => void response.end());
    const profile = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...profile, baseUrl: origin }));
    const stderr = await failing(file, "fake:sound", "--start-a", "sleep 9");
    await stop();
    expect(stderr).toContain(`something already answers at ${origin}`);
  });
});
