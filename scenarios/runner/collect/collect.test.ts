import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { HistogramLogReader } from "hdr-histogram-js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startModule } from "../../../conformance/testing/start-cli.ts";
import type { LoadBreach, SecondLine } from "../../../conformance/contract/load-record.ts";
import { runnerClock } from "../clock.ts";
import { startK6 } from "../k6/start.ts";
import { nowhere, openLoadRecord } from "../record.ts";
import { k6OfFile } from "../testing/load-here.ts";
import { serveHttp } from "../../../conformance/testing/servers.ts";
import { constantStage, headerFor, scriptIn, settingsFor } from "../testing/loads.ts";
import { runLoad, type LoadOptions, createCollector, type CollectorOptions } from "./collect.ts";
import { filesBelow } from "../../../conformance/testing/temporary-folder.ts";
import { eachTestIn } from "../../../conformance/testing/folders.ts";
import { head, secondOfRows } from "../testing/segments.ts";
import { seededRandom } from "../../../conformance/contract/random.ts";
import { createAbortWatch } from "../judge/validity.ts";

let folder: string;
eachTestIn((made) => (folder = made));

const k6 = k6OfFile();

/** False for a zombie: it has ended, but was not waited for. */
const isAlive = (pid: number): boolean => {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
};

const linesOf = <T>(file: string): T[] => {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as T);
};

const steady = `
export default () => { begin(); get("list"); };
`;

/** Everything that a script reports, each at some iterations. */
const eventful = `
      export default () => {
        const index = begin();
        get("list");
        get("exchange", index % 10 === 3 ? "/exchange?fail" : "/exchange", true);
        metric.check.add(2, { rule: "code.single-use" });
        if (index % 50 === 7) {
          metric.breach.add(1, { rule: "code.single-use" });
          const secret = settings.clients[0].secret;
          console.error("touchstone:" + JSON.stringify({ kind: "breach", rule: "code.single-use", atEpochMs: Date.now(),
            expected: "a refusal", actual: "tokens", secrets: ["abcd1234efgh"], exchanges: [{ method: "POST", path: "/exchange?x=" + encodeURIComponent(secret),
            requestBody: JSON.stringify({ secret, code: "abcd1234efgh" }), status: 200, answer: '{"accessToken":"nobody named it"}', durationMs: 1 }] }));
        }
        exec.vu.metrics.metadata.digest = (index === 12 ? 11 : index).toString(16).padStart(16, "0");
        metric.issued.add(1, { what: "code" });
        delete exec.vu.metrics.metadata.digest;
        const told = { sentAt: "1234", account: "a-1", notification: "n-1" };
        if (index === 5) { Object.assign(exec.vu.metrics.metadata, told); metric.event.add(1); }
        for (const name in told) delete exec.vu.metrics.metadata[name];
        if (index === 6) console.warn("the secret is " + settings.clients[0].secret);
      };`;

const nowhereAtAll = "http://127.0.0.1:1";

const optionsFor = (body: string, baseUrl: string, rate: number, durationMs: number): LoadOptions => ({
  k6,
  script: scriptIn(folder, body),
  settings: settingsFor(baseUrl, constantStage(rate, durationMs)),
  environment: process.env,
  clock: runnerClock,
  sink: nowhere,
  warmUpMs: 0,
});

describe("runLoad with the real k6", () => {
  it("records requests, latencies, lag, breaches, credentials issued twice and events", async () => {
    const temporary = path.join(folder, "temporary");
    mkdirSync(temporary);
    vi.stubEnv("TMPDIR", temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const statuses: Readonly<Record<string, number>> = { "/exchange?fail": 503, "/exchange": 400 };
    let served = 0;
    await using server = await serveHttp(({ url = "" }, response) => {
      served += 1;
      setTimeout(() => response.writeHead(statuses[url] ?? 200).end("{}"), 5);
    });
    const options = optionsFor(eventful, server.origin, 100, 2_000);
    const directory = path.join(folder, "run");
    const record = openLoadRecord(directory, headerFor(server.origin));
    const events: unknown[] = [];
    const result = await runLoad({
      ...options,
      sink: record,
      environment: { ...process.env, K6_VUS: "3", K6_DURATION: "1s", HTTPS_PROXY: "http://127.0.0.1:1" },
      onEvent: (...event) => void events.push(event),
    });

    expect(result.end).toEqual({ exitCode: 0, meaning: "finished", says: "finished" });
    expect(result.stopped).toBeUndefined();
    expect(result.notes.join()).toMatch(/k6 did not get .*HTTPS_PROXY.*K6_DURATION.*K6_VUS/);
    // On a busy machine k6 drops iterations, and does not count those that it has not started at the end, or starts
    // more: those that are overdue may all begin before it notices the end. The first twenty have one of each kind.
    expect(result.achieved.arrivals).toBeGreaterThanOrEqual(20);
    const requests = 2 * result.achieved.arrivals;
    expect(served).toBe(requests);
    expect(result.achieved).toMatchObject({ arrivalsAsked: 200, seconds: 2, requests });
    expect(events).toEqual([[1234, "a-1", "n-1"]]);

    const { achieved, endpoints, measures } = result;
    expect(measures["list"]).toMatchObject({ granted: achieved.arrivals, refused: 0, failed: 0 });
    expect(measures["exchange"]?.failed).toBeCloseTo(achieved.arrivals / 10, -1);
    expect(endpoints.map(({ endpoint, outcome }) => `${endpoint} ${outcome}`).toSorted()).toEqual([
      "exchange failed",
      "exchange refused",
      "list granted",
    ]);
    for (const { service, response } of endpoints) {
      expect(service.p50Ms).toBeGreaterThan(4);
      expect(response.p50Ms).toBeGreaterThanOrEqual(service.p50Ms);
    }

    expect(result.rules).toContainEqual({
      id: "code.single-use",
      checks: 2 * achieved.arrivals,
      // Every fiftieth iteration from the eighth on, as far as they were started.
      breaches: Math.ceil((achieved.arrivals - 7) / 50),
    });
    const fresh = { id: "authorize.code-is-fresh", checks: achieved.arrivals, breaches: 1 };
    expect(result.rules).toContainEqual(fresh);
    expect(result.breaches.map(({ rule }) => rule)).toEqual(
      expect.arrayContaining(["code.single-use", "authorize.code-is-fresh"]),
    );

    const sealed = record.seal({ endedAt: "2026-01-01T00:00:02.000Z" });
    expect(sealed.state).toBe("sealed");
    const seconds = linesOf<SecondLine>(path.join(directory, "samples/seconds.jsonl"));
    expect(seconds.map(({ second }) => second)).toEqual(seconds.map((_, index) => index));
    expect(seconds.slice(0, 2).map(({ asked }) => asked)).toEqual([100, 100]);
    expect(seconds.reduce((sum, { started }) => sum + started, 0)).toBe(achieved.arrivals);
    expect(seconds[0]?.k6?.memoryMiB).toBeGreaterThan(5);
    expect(seconds[0]?.machineIdle).toBeGreaterThanOrEqual(0);

    const log = new HistogramLogReader(readFileSync(path.join(directory, "samples/latency.hlog"), "utf8"));
    let counted = 0;
    for (let one = log.nextIntervalHistogram(); one !== null; one = log.nextIntervalHistogram())
      if (one.tag === "list;granted;response") counted += one.totalCount;
    expect(counted).toBe(achieved.arrivals);

    const [breach] = linesOf<LoadBreach>(path.join(directory, "breaches.jsonl"));
    expect(breach).toMatchObject({ rule: "code.single-use", askedRate: 100 });
    const files = filesBelow(directory).map((name) => path.join(directory, name));
    const everything = files.map((file) => readFileSync(file, "utf8")).join("\n");
    for (const secret of ["first/secret+of=client", "first%2Fsecret", "abcd1234efgh", "nobody named it"])
      expect(everything).not.toContain(secret);
    expect(everything).toContain("the secret is ‹client secret 1›");
    expect(files.filter((file) => (statSync(file).mode & 0o077) !== 0)).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("keeps what was measured when k6 is killed, and reports the signal", async () => {
    await using server = await serveHttp((_, response) => response.end("{}"));
    const running = Promise.withResolvers<number>();
    const pid = path.join(folder, "pid");
    const wrapped = path.join(folder, "k6");
    writeFileSync(wrapped, `#!/bin/sh\necho $$ > ${pid}\nexec ${k6.path} "$@"\n`, { mode: 0o755 });
    const lines: SecondLine[] = [];
    const result = await runLoad({
      ...optionsFor(steady, server.origin, 50, 60_000),
      k6: { ...k6, path: wrapped },
      sink: { ...nowhere, second: (line) => void lines.push(line) },
      onSecond: () => {
        const k6Pid = Number(readFileSync(pid, "utf8"));
        if (isAlive(k6Pid)) process.kill(k6Pid, "SIGKILL");
        running.resolve(k6Pid);
        return undefined;
      },
    });
    expect(result.end).toMatchObject({ signal: "SIGKILL", says: "interrupted" });
    expect(result.stopped).toBe("k6 was ended by SIGKILL");
    // How many a crowded machine starts within a second is its own affair.
    expect(lines[0]?.started).toBeGreaterThan(0);
    expect(result.achieved.arrivals).toBe(lines.reduce((sum, { started }) => sum + started, 0));
    expect(isAlive(await running.promise)).toBe(false);
  });

  it("ends the load on an interrupt, and when a second gives a reason", async () => {
    await using server = await serveHttp((_, response) => response.end("{}"));
    const options = optionsFor(steady, server.origin, 50, 60_000);
    const interrupt = new AbortController();
    const [interrupted, aborted] = await Promise.all([
      runLoad({
        ...options,
        signal: interrupt.signal,
        sink: { ...nowhere, second: () => interrupt.abort() },
      }),
      runLoad({ ...options, onSecond: () => "too many failed" }),
    ]);
    expect([interrupted.stopped, aborted.stopped]).toEqual(["interrupted", "too many failed"]);
    for (const { end, achieved } of [interrupted, aborted]) {
      expect(end).toEqual({ exitCode: 105, meaning: "was stopped by us", says: "stopped" });
      expect(achieved.arrivals).toBeGreaterThan(0);
    }
  });

  it("reports a script that throws and a trouble that a script logs", async () => {
    const broken = await runLoad(optionsFor(`throw new Error("cannot begin");`, nowhereAtAll, 1, 1_000));
    expect(broken).toMatchObject({ end: { exitCode: 107, says: "harness" }, startedAtMs: undefined });
    expect(broken.stopped).toBe("k6 failed: the script threw an exception");
    const trouble = `'touchstone:{"kind":"trouble","what":"no code came back"}'`;
    const body = `export default () => { begin(); console.error(${trouble}); throw new Error("oops"); };`;
    const troubled = await runLoad(optionsFor(body, nowhereAtAll, 5, 1_000));
    expect(troubled.troubles).toEqual(["no code came back"]);
    expect(troubled.exceptions.count).toBe(troubled.achieved.arrivals);
    expect(troubled.exceptions.first[0]).toMatch(/^Error: oops/);
  });

  it("ends k6 if its samples cannot be read", async () => {
    const options = optionsFor(steady, nowhereAtAll, 5, 60_000);
    const running = await startK6({
      ...options,
      onLog: () => undefined,
      onSamples: () => {
        throw new Error("out of order");
      },
    });
    await expect(running.ended).rejects.toThrow("k6's samples could not be read (out of order)");
    expect(isAlive(running.pid)).toBe(false);
  });

  it("leaves no k6 behind when its own process is killed", async () => {
    const temporary = path.join(folder, "temporary");
    mkdirSync(temporary);
    await using server = await serveHttp((_, response) => response.end("{}"));
    const { script, settings } = optionsFor(steady, server.origin, 5, 60_000);
    const { line, stop } = startModule(
      `import { startK6 } from ${JSON.stringify(path.join(import.meta.dirname, "../k6/start.ts"))};
       import { runnerClock as clock } from ${JSON.stringify(path.join(import.meta.dirname, "../clock.ts"))};
       const { pid } = await startK6({ ...${JSON.stringify({ k6, script, settings })}, environment: process.env, clock, onSamples() {}, onLog() {} });
       console.log(pid);`,
      [],
      { env: { TMPDIR: temporary } },
    );
    const pid = Number(await line());
    expect(isAlive(pid)).toBe(true);
    // Looked at before the kill: what ends k6 then may have removed it by the time that this process goes on.
    expect(readdirSync(temporary)).toHaveLength(1);
    await stop("SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
    await expect.poll(() => readdirSync(temporary)).toEqual([]);
  });
});

const failedAll = { list: { granted: 0, refused: 0, failed: 9 } };

/** Why the load was to end, before its seconds were closed and after. */
const endsOf = (options: Pick<CollectorOptions, "sink" | "onSecond">) => {
  const reasons: string[] = [];
  const settings = settingsFor("http://127.0.0.1", constantStage(9, 2_000));
  const collector = createCollector(
    { settings, warmUpMs: 0, ...options },
    (reason) => void reasons.push(reason),
  );
  collector.samples(Buffer.from(head + secondOfRows(0, 9, seededRandom(1))));
  const before = [...reasons];
  collector.close();
  return { before, after: reasons };
};

it("the last seconds of the stages, which close only when the load has ended, count for giving it up", () => {
  const watch = createAbortWatch({ errorShare: 0, seconds: 1 });
  const onSecond: CollectorOptions["onSecond"] = ({ line }) => watch({ ...line, requests: failedAll });
  expect(endsOf({ sink: nowhere, onSecond })).toEqual({
    before: [],
    after: [expect.stringContaining("requests failed")],
  });
});

it("a record that cannot be written is told", () => {
  const full = { ...nowhere, failure: () => "the disk is full" };
  expect(endsOf({ sink: full }).after).toEqual(["the record could not be written: the disk is full"]);
});
