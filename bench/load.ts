import { writeFileSync } from "node:fs";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import path from "node:path";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";
import { figure } from "../conformance/testing/measure.ts";
import { startModule } from "../conformance/testing/start-cli.ts";
import { settingsVariable } from "../scenarios/protocol.ts";
import { runnerClock } from "../scenarios/runner/clock.ts";
import { runLoad, type LoadResult } from "../scenarios/runner/collect/collect.ts";
import type { FoundK6 } from "../scenarios/runner/k6/find.ts";
import { openLoadRecord } from "../scenarios/runner/record.ts";
import { k6ForTests, playBare } from "../scenarios/runner/testing/k6.ts";
import { constantStage, headerFor, scriptIn, settingsFor } from "../scenarios/runner/testing/loads.ts";

/** Three requests per iteration, with everything our scripts add to them. */
const watched = `
export default () => {
  const index = begin();
  for (const name of ["authorize", "exchange", "refresh"]) get(name);
  metric.check.add(3, { rule: "code.single-use" });
  for (const what of ["code", "accessToken"]) {
    metadata.digest = (index * 2 + what.length).toString(16).padStart(16, "0");
    metric.issued.add(1, { what });
    delete metadata.digest;
  }
};`;

/** The same requests, and nothing else. */
const bare = `
export default () => {
  for (const name of ["authorize", "exchange", "refresh"]) http.get(settings.baseUrl + "/" + name, { tags: { name } });
};`;

const RATE = 2_000;
const SECONDS = 6;
const ROUNDS = 3;

const counting = `
import { createServer } from "node:http";
let count = 0;
const server = createServer((request, response) => {
  if (request.url === "/count") return response.end(String(count));
  count += 1;
  response.setHeader("content-type", "application/json").end('{"data":[],"total":0}');
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

interface CountingServer extends AsyncDisposable {
  readonly baseUrl: string;
  /** Requests answered so far. */
  readonly count: () => Promise<number>;
}

/** A minimal server in its own process that counts requests. */
const startCountingServer = async (): Promise<CountingServer> => {
  const { line, stop } = startModule(counting);
  const baseUrl = `http://127.0.0.1:${await line()}`;
  return {
    baseUrl,
    count: () =>
      new Promise((resolve, reject) => {
        // A separate connection, because one that was idle during a run may just be closing.
        get(`${baseUrl}/count`, { agent: false }, (answer) => {
          void text(answer).then((count) => resolve(Number(count)), reject);
        }).on("error", reject);
      }),
    [Symbol.asyncDispose]: async () => void (await stop("SIGKILL")),
  };
};

interface Achieved {
  readonly ratio: number;
  /** Mean cores in use. */
  readonly k6: number;
  readonly collector: number;
}

/** Alternates, after an uncounted pair, because the machine is shared and its caches are cold at first. */
const compare = async (k6: FoundK6, executor: "arrivals" | "saturating"): Promise<Achieved> => {
  await using server = await startCountingServer();
  const settings = {
    ...settingsFor(server.baseUrl, constantStage(Math.round(RATE / 3), SECONDS * 1_000)),
    virtualUsers: { allocated: 50, most: executor === "arrivals" ? 200 : 50 },
  };
  const requestsDuring = async (work: () => Promise<unknown>): Promise<number> => {
    const before = await server.count();
    await work();
    return (await server.count()) - before;
  };
  const runBare = async (): Promise<void> => {
    using folder = temporaryFolder();
    const file = path.join(folder.path, "settings.json");
    writeFileSync(file, JSON.stringify(settings));
    const script = scriptIn(folder.path, bare, executor);
    await playBare(script, { env: { [settingsVariable]: file } });
  };
  const uses: LoadResult["achieved"][] = [];
  const runOurs = async (): Promise<void> => {
    using folder = temporaryFolder();
    using record = openLoadRecord(path.join(folder.path, "run"), headerFor(server.baseUrl));
    const script = scriptIn(folder.path, watched, executor);
    const common = { environment: process.env, clock: runnerClock, warmUpMs: 0 };
    const { achieved } = await runLoad({ k6, script, settings, sink: record, ...common });
    uses.push(achieved);
  };
  const ratios: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const without = await requestsDuring(runBare);
    const withOurs = await requestsDuring(runOurs);
    if (round > 0) ratios.push(withOurs / without);
  }
  const mean = (key: "k6Cores" | "collectorCores"): number =>
    uses.reduce((sum, use) => sum + (use[key] ?? 0), 0) / uses.length;
  const ratio = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  return { ratio, k6: mean("k6Cores"), collector: mean("collectorCores") };
};

/** `npm run bench -- load`: the cost of measuring. */
export const load = async (): Promise<void> => {
  const k6 = await k6ForTests();
  const steady = await compare(k6, "arrivals");
  figure(
    `requests achieved of ${RATE} a second with our collector, against a bare k6`,
    steady.ratio.toFixed(2),
    ">= 0.98",
  );
  const ofAll = (100 * steady.collector) / (steady.k6 + steady.collector);
  figure("collector's share of the processor time of k6 and collector", `${ofAll.toFixed(1)} %`, "< 10 %");
  const saturated = await compare(k6, "saturating");
  figure("  the same with a rate that only the two cores limit", saturated.ratio.toFixed(2), ">= 0.92");
};
