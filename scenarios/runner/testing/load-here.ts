import { writeFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { beforeAll } from "vitest";
import type { LoadRecord } from "../../../conformance/contract/load-record.ts";
import { runHere } from "../../../conformance/testing/run-here.ts";
import { listening } from "../../../conformance/testing/servers.ts";
import { profileOf, secretsOf, startFakeServer } from "../../../fake-server/index.ts";
import type { FoundK6 } from "../k6/find.ts";
import { k6ForTests, k6WithinMs } from "./k6.ts";

/** The k6 of load runs, which is there before the first test of a file. */
export const k6OfFile = (): FoundK6 => {
  const found = {} as FoundK6;
  beforeAll(async () => void Object.assign(found, await k6ForTests()), k6WithinMs);
  return found;
};

/** Runs `touchstone load` in this process, and gives the record that it prints. */
export const loadHere = async (k6: string, flags: string, out: string, env: NodeJS.ProcessEnv = {}) => {
  const parameters = ["load", "--json", ...flags.split(" "), "--out", out];
  const { stdout, stderr, exitCode } = await runHere(parameters, { env: { ...env, TOUCHSTONE_K6: k6 } });
  if (stdout === "") throw new Error(stderr);
  return { exitCode, stderr, record: JSON.parse(stdout) as LoadRecord };
};

/** A sound service behind a front, which passes on a request or answers it itself; its profile is in the folder. */
export const startFront = async (
  folder: string,
  handle: (pass: () => void, refuse: (status: number, headers?: http.OutgoingHttpHeaders) => void) => void,
) => {
  const fake = await startFakeServer({ clockMode: "flowing" });
  const front = await listening(
    http.createServer((incoming, outgoing) => {
      const { method = "GET", url = "/", headers } = incoming;
      const pass = (): void => {
        const passed = http.request(new URL(url, fake.baseUrl), { method, headers }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(outgoing);
        });
        passed.on("error", () => outgoing.destroy());
        incoming.pipe(passed);
      };
      handle(pass, (status, more = {}) => {
        incoming.resume();
        outgoing.writeHead(status, more).end("slow down");
      });
    }),
  );
  const profile = path.join(folder, "profile.json");
  writeFileSync(profile, JSON.stringify({ ...profileOf(fake), baseUrl: front.origin }));
  const stop = async (): Promise<void> => {
    await front.stop();
    await fake.stop();
  };
  return { profile, env: secretsOf(fake), [Symbol.asyncDispose]: stop };
};
