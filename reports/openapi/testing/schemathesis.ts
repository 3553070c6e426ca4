import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { ACCOUNT, startTestService, tokensOf, type TestService } from "../../../fake-server/testing/flow.ts";
import { temporaryFolder } from "../../../conformance/testing/temporary-folder.ts";
import { cacheFolder } from "../../../scenarios/runner/k6/cache.ts";
import type { JsonObject } from "../schemas.ts";
import { documentFor } from "./narrowed.ts";

const run = promisify(execFile);

export const schemathesisVersion = "4.32.5";
const requirements = [`schemathesis==${schemathesisVersion}`, "openapi-spec-validator==0.9.0"];

/** Folder with the programs of a Python virtual environment, created once in the user's cache. */
export const python = async (): Promise<string> => {
  const folder = path.join(cacheFolder(process.env), `schemathesis-${schemathesisVersion}`);
  const programs = path.join(folder, "bin");
  if (existsSync(path.join(programs, "ready"))) return programs;
  mkdirSync(path.dirname(folder), { recursive: true });
  await run("python3", ["-m", "venv", "--clear", folder]);
  await run(path.join(programs, "pip"), ["install", "--quiet", ...requirements]);
  writeFileSync(path.join(programs, "ready"), "");
  return programs;
};

export const specValidatorSays = async (programs: string, document: JsonObject): Promise<string> => {
  using folder = temporaryFolder();
  const file = path.join(folder.path, "openapi.json");
  writeFileSync(file, JSON.stringify(document));
  const { stdout } = await run(path.join(programs, "openapi-spec-validator"), [file]);
  return stdout.trim().replace(`${file}: `, "");
};

/** Result of a Schemathesis run: names of the failed checks, and the number of requests. */
export interface Outcome {
  readonly failures: readonly string[];
  readonly errors: number;
  readonly cases: number;
}

interface Report {
  readonly failures: readonly { readonly type: string; readonly count: number }[];
  readonly errors: readonly unknown[];
  readonly test_cases: { readonly generated: number };
}

/**
 * Checks without a basis in the document: which valid-looking values are accepted (required parameters and the maximum
 * limit are not shown), and which status an unknown method gets.
 */
const GROUNDLESS = ["positive_data_acceptance", "unsupported_method"];

/** Examples per phase and operation, and timeout per request in seconds. */
const EXAMPLES = Number(process.env["TOUCHSTONE_BENCH_EXAMPLES"] ?? 20);
const REQUEST_SECONDS = 5;

/** Redirects must not leave this machine: other hosts are sent to a proxy port that nothing listens on. */
const offline = {
  HTTP_PROXY: "http://127.0.0.1:9",
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1",
};

const phase = async (
  programs: string,
  { baseUrl }: TestService,
  files: { readonly document: string; readonly folder: string },
  parameters: readonly string[],
): Promise<Outcome> => {
  const report = path.join(files.folder, "report.json");
  rmSync(report, { force: true });
  const fixed = ["--no-color", "--generation-database", "none", "--no-shrink", "--report", "json"];
  const limits = ["-n", String(EXAMPLES), "--request-timeout", String(REQUEST_SECONDS), "--seed", "1"];
  await run(
    path.join(programs, "st"),
    ["run", files.document, "-u", baseUrl, ...fixed, "--report-json-path", report, ...limits, ...parameters],
    { cwd: files.folder, env: { ...process.env, ...offline }, maxBuffer: 2 ** 26 },
  ).catch((error: { code?: unknown }) => {
    // Exit code 1 means that it found something.
    if (error.code !== 1) throw error;
  });
  const { failures, errors, test_cases } = JSON.parse(readFileSync(report, "utf8")) as Report;
  return { failures: failures.map(({ type }) => type), errors: errors.length, cases: test_cases.generated };
};

const EVENTS = 12;

/**
 * Runs Schemathesis against a fake with this behaviour, set up as an adopter would: a token, real client credentials,
 * links between the operations, and notifications to list. Its check that a token is required mistakes a linked token
 * for an invented one, so the stateful phase runs without that check.
 */
export const schemathesis = async (
  programs: string,
  behaviour: string,
  kind: "narrowed" | "published" = "narrowed",
): Promise<Outcome> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  await using service = await startTestService({ behaviour });
  for (let n = 0; n < EVENTS; n += 1)
    await service.event({ clientId: service.client.id, accountId: ACCOUNT });
  const document = path.join(folder, "openapi.json");
  writeFileSync(document, JSON.stringify(documentFor(kind, service.client)));
  const { accessToken } = await tokensOf(service);
  const files = { document, folder };
  const token = `x-service-access-token: ${accessToken}`;
  const single = await phase(programs, service, files, [
    "--phases=examples,coverage,fuzzing",
    `--header=${token}`,
    `--exclude-checks=${GROUNDLESS.join(",")}`,
  ]);
  const linked = await phase(programs, service, files, [
    "--phases=stateful",
    `--exclude-checks=${[...GROUNDLESS, "ignored_auth"].join(",")}`,
  ]);
  return {
    failures: [...new Set([...single.failures, ...linked.failures])],
    errors: single.errors + linked.errors,
    cases: single.cases + linked.cases,
  };
};
