import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { harmlessJson } from "../conformance/contract/harmless-text.ts";
import { filesBelow } from "../conformance/testing/temporary-folder.ts";
import { openLedger } from "../conformance/lifetimes/ledger-file.ts";
import { entryOf } from "../conformance/testing/made.ts";
import { folderOfFile } from "../conformance/testing/folders.ts";
import { runHere, startHere } from "../conformance/testing/run-here.ts";
import { serveHttp } from "../conformance/testing/servers.ts";
import { stopAfterAll } from "../conformance/testing/stopping.ts";
import { profileOf, secretsOf, startFakeServer } from "../fake-server/index.ts";
import { writeDuet } from "../reports/duet/document.ts";
import { hostileRun } from "../reports/testing/ci-runs.ts";
import { madeDuet } from "../reports/testing/duet-document.ts";
import { acting, ciCommand, hostile, unsafeCharacters, ruleThat } from "../reports/testing/fixture.ts";
import { writeGateRun, writeLoadRun } from "../reports/testing/records.ts";
import { writeSegment } from "../scenarios/runner/testing/segments.ts";
import { commands } from "./program.ts";

/**
 * Every command with texts from outside that act on whatever shows them: answers of a service, records, ledgers,
 * profiles, names of folders, words of k6. What users type is in shared/output.test.ts.
 */

/** What the name of a folder can hold of them. */
const folderName = "a\u001b[2J\rb\u202ec\u200bd\u009be\u{e0041}f\u2028g\u3164h\n::error::i ##vso[j]k";
const home = path.join(folderOfFile(), folderName);
const at = (...names: readonly string[]): string => path.join(home, ...names);
const stopping = stopAfterAll();

/** Without a CI service, as commands for it would be its annotations. */
const noCi = Object.fromEntries(
  ["CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION"].map((name) => [
    name,
    undefined,
  ]),
);
const ledgerKey = "a key of more than sixteen characters";
const env: NodeJS.ProcessEnv = { ...noCi, TOUCHSTONE_K6: at("k6"), TOUCHSTONE_LEDGER_KEY: ledgerKey };

beforeAll(async () => {
  mkdirSync(home);
  const fake = await stopping(startFakeServer());
  const { origin } = await stopping(startFront(new URL(fake.baseUrl).origin));
  Object.assign(env, secretsOf(fake));
  const profile = { ...profileOf(fake), name: hostile, baseUrl: origin };
  writeFileSync(at("profile.json"), JSON.stringify(profile));
  const clients = [{ id: hostile, secret: "s", redirectUri: "https://c.example/cb" }];
  writeFileSync(at("clients.json"), JSON.stringify(clients), { mode: 0o600 });
  writeK6();
  writeGatesAndLoads();
  writeSegments();
  writeDuet(at("duet-record"), madeDuet({ pairs: 4, names: { a: hostile, b: hostile } }));
  writeLedger();
});

/** A service whose refusals hold such texts, as do its answers to exchanges. */
const startFront = (origin: string) =>
  serveHttp((incoming, outgoing, body) => {
    const { method = "GET", url = "", headers } = incoming;
    const names = ["content-type", "x-service-access-token"];
    const sent = names.flatMap((name): [string, string][] =>
      typeof headers[name] === "string" ? [[name, headers[name]]] : [],
    );
    const pass = async (): Promise<void> => {
      const answer = await fetch(origin + url, { method, headers: sent, ...(body !== "" && { body }) });
      const json = (await answer.json()) as object;
      const said = method === "POST" ? { expiresIn: acting } : {};
      // HTTP allows control characters of one byte in a reason phrase and in a header.
      outgoing.writeHead(answer.status, "\u009b31m\u0085", { "x-said": "\u009b31m" });
      outgoing.end(JSON.stringify({ ...json, ...(answer.ok ? said : { error: hostile, [hostile]: 1 }) }));
    };
    pass().catch(() => outgoing.destroy());
  });

/** A k6 with such a version, which says such things and fails. */
const writeK6 = (): void => {
  const script =
    '#!/bin/sh\nif [ "$1" = version ]; then cat "$0.version"; else cat "$0.said" >&2; exit 107; fi\n';
  writeFileSync(at("k6"), script, { mode: 0o755 });
  writeFileSync(at("k6.version"), `k6 v1.8.1${hostile.replaceAll(/[\s(]/g, "")} (go1.26)`);
  // Like k6's own, its JSON holds no line separator as it is.
  const exception = harmlessJson(JSON.stringify({ source: "stacktrace", msg: hostile }));
  writeFileSync(at("k6.said"), `${hostile}\n${exception}\n`);
};

const writeGatesAndLoads = (): void => {
  for (const seed of [1, 2]) {
    writeGateRun(at("runs", `gate-${seed}`), { seed, exchanges: 2, record: hostileRun.record });
    const record = { notes: [hostile], target: hostileRun.record.target, stopped: hostile };
    writeLoadRun(at("runs", `load-${seed}`), { seed, seconds: 2, requests: 200, breaches: 1, record });
  }
  const rules = [ruleThat.failed("exchange.token-set", hostile, hostile)];
  writeGateRun(at("broken"), { seed: 1, exchanges: 1, record: { rules } });
  mkdirSync(at("runs", "damaged"));
  writeFileSync(at("runs", "damaged", "run.json"), hostile);
};

const writeSegments = (): void => {
  for (const index of [1, 2]) {
    const directory = writeSegment(at("segments"), index, { count: 2, seconds: 2, rate: 30 });
    const file = path.join(directory, "run.json");
    const record = JSON.parse(readFileSync(file, "utf8")) as { readonly segment: object };
    const segment = { ...record.segment, host: hostile };
    const target = { name: hostile, baseUrl: hostile, profiles: [hostile] };
    writeFileSync(file, JSON.stringify({ ...record, target, segment, notes: [hostile] }));
  }
};

const writeLedger = (): void => {
  const ledger = openLedger(at("kept.ledger"), ledgerKey);
  ledger.put(entryOf({ target: hostile, rule: hostile, subject: hostile }));
  ledger.close();
};

const profile = ["-p", at("profile.json")];
const gate = [...profile, "--effort", "quick", "--seed", "1", "--only", "exchange.token-set"];
const rate = ["--rate", "20"];
const [gate1, gate2] = [at("runs", "gate-1"), at("runs", "gate-2")];
const all = ["--report", "html,junit,ctrf,markdown,codequality,har"];
const some = ["--report", "html,junit,markdown"];
const client = ["--client-id", hostile, "--secret-env", "S", "--redirect-uri", "https://c.example/cb"];

/** The command lines of each command, with a new folder or file for what they write. */
const lines: Readonly<Record<string, (out: string) => readonly (readonly string[])[]>> = {
  conform: (out) => [["conform", ...gate, "--verbose", ...all, "--out", out]],
  replay: () => [["replay", at("broken"), "exchange.token-set", ...profile]],
  init: (out) =>
    [".json", ".mts"].map((end) => [
      "init",
      "--base-url",
      "https://s.example",
      ...client,
      "--out",
      out + end,
    ]),
  doctor: () => [["doctor", ...profile]],
  rules: () => [["rules", hostile]],
  serve: (out) => [["serve", "--clients", at("clients.json"), "--write-profile", `${out}.json`]],
  receive: (out) => [["receive", "--http", "--journal", `${out}.jsonl`]],
  health: () => [["health", `http://127.0.0.1:1/${hostile}`]],
  load: (out) => [["load", ...profile, ...rate, "--duration", "2s", "--verbose-k6", ...all, "--out", out]],
  merge: (out) => [["merge", at("segments", "1"), at("segments", "2"), ...all, "--out", out]],
  run: (out) => [["run", ...gate, ...rate, "--duration", "2s", "--out", out]],
  report: (out) => [
    ["report", gate1, at("runs", "load-1"), ...all, "--out", out],
    ["report", at("duet-record"), ...some, "--out", out],
  ],
  compare: (out) => [
    ["compare", gate1, gate2, "--force", ...some, "--out", out],
    ["compare", at("runs", "load-1"), at("runs", "load-2"), "--force"],
  ],
  ledger: () => [["ledger", at("kept.ledger")]],
  history: (out) => [["history", at("runs"), "--report", "html,markdown", "--out", out]],
  duet: (out) => [
    ["duet", at("profile.json"), at("profile.json"), "--pairs", "2", "--block", "2s", ...rate, "--out", out],
  ],
  detect: () => [["detect", "--behaviour", hostile]],
  completion: () => [["completion", hostile]],
};

/** Runs to its end, or until it has said where it listens. */
const play = async (line: readonly string[]) => {
  if (!["serve", "receive"].includes(line[0] ?? "")) return runHere(line, { env });
  const said = { stdout: "", stderr: "" };
  const running = startHere(line, env, (text, stream) => {
    said[stream] += text;
    running.interruption.abort();
  });
  return { exitCode: await running.ended, ...said };
};

/** What people read of the files below a folder: all but the lines of each request, which keep what came. */
const readBy = (folder: string): readonly string[] =>
  filesBelow(folder)
    .filter((file) => !/(?:exchanges|pushes|latency)\.\w+$/.test(file))
    .map((file) => path.join(folder, file));

const kinds = commands.map((create) => {
  const command = create(undefined as never);
  return [
    command.name(),
    command.options.some(({ long }) => long === "--json") ? [[], ["--json"]] : [[]],
  ] as const;
});

describe("nothing from outside acts on who reads it", () => {
  it.each(kinds)("in what is shown and written by %s", async (name, manners) => {
    mkdirSync(at(name));
    for (const manner of manners) {
      const asked = lines[name]?.(at(name, `out${manner.join("")}`)) ?? [];
      expect(asked, `a line with a hostile text for ${name}`).not.toEqual([]);
      for (const line of asked) {
        const { stdout, stderr } = await play([...line, ...manner]);
        for (const text of [stdout, stderr]) {
          expect(text).not.toMatch(unsafeCharacters);
          expect(text).not.toMatch(ciCommand);
        }
        expect(stdout + stderr).toMatch(/\\u202e/);
      }
    }
    for (const file of readBy(at(name)))
      expect(readFileSync(file, "utf8"), file).not.toMatch(unsafeCharacters);
  });
});
