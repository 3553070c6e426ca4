import { readFileSync } from "node:fs";
import http from "node:http";
import { buffer } from "node:stream/consumers";
import path from "node:path";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { figure, root, runCli } from "../../conformance/testing/measure.ts";
import { listening } from "../../conformance/testing/servers.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { startFake } from "../../scenarios/runner/testing/play-segments.ts";
import { fromSnappy } from "./snappy.ts";

const RATE = 500;
const SECONDS = 15;
/** In turns, so that other work on the machine disturbs all alike. */
const ROUNDS = 2;

/** Accepts and records everything, like a metrics collector. */
const startCollector = async () => {
  const bodies: Buffer[] = [];
  const take = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    bodies.push(await buffer(request));
    response.setHeader("content-type", "application/x-protobuf").end();
  };
  const collector = await listening(http.createServer((...exchange) => void take(...exchange)));
  return { ...collector, bodies, address: `127.0.0.1:${collector.port}` };
};

const variablesFor = (address: string) => ({
  none: {},
  "experimental-prometheus-rw": { K6_PROMETHEUS_RW_SERVER_URL: `http://${address}/api/v1/write` },
  opentelemetry: {
    K6_OTEL_EXPORTER_PROTOCOL: "http/protobuf",
    K6_OTEL_HTTP_EXPORTER_ENDPOINT: address,
    K6_OTEL_HTTP_EXPORTER_INSECURE: "true",
  },
});

const seriesIn = (text: string): readonly string[] => text.match(/k6_\w+/g) ?? [];

const dashboard = path.join(root, "deploy/grafana/touchstone-load.json");

/** The cost of k6's outputs in addition to ours, and whether the dashboard's series arrive. */
export const outputs = async (): Promise<void> => {
  using folder = temporaryFolder();
  await using fake = await startFake("sound");
  const costs: Record<string, number[]> = {};
  const series = new Set<string>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    await using collector = await startCollector();
    for (const [name, env] of Object.entries(variablesFor(collector.address))) {
      collector.bodies.length = 0;
      const asked = ["--profile", fake.profileFile, "--scenario", "token", "--rate", `${RATE}`];
      const out = path.join(folder.path, `${name} ${round}`);
      const flags = ["--duration", `${SECONDS}s`, "--out", out, "--json"];
      const output = name === "none" ? [] : ["--k6-out", name];
      const { stdout, stderr } = await runCli(["load", ...asked, ...flags, ...output], { env });
      if (stdout === "") throw new Error(`no load with ${name}: ${stderr}`);
      const { achieved, validity } = JSON.parse(stdout) as LoadRecord;
      const { k6Cores = 0, seconds = 0, requests = 1 } = achieved ?? {};
      (costs[name] ??= []).push((1_000 * k6Cores * seconds) / requests);
      if (validity?.valid !== true)
        process.stdout.write(`  ${name}: not valid, ${validity?.reasons[0]?.reason}\n`);
      if (name === "experimental-prometheus-rw")
        for (const body of collector.bodies)
          for (const name of seriesIn(fromSnappy(body).toString("latin1"))) series.add(name);
      figure(`  requests that ${name} sent`, String(collector.bodies.length), name === "none" ? "0" : "some");
    }
  }
  for (const [name, of] of Object.entries(costs))
    figure(
      `processor time of k6 for a request, output beside ours: ${name}`,
      of.map((one) => `${one.toFixed(2)} ms`).join(", "),
      "told only",
    );
  const missing = [...new Set(seriesIn(readFileSync(dashboard, "utf8")).filter((name) => !series.has(name)))];
  const what = "series that the dashboard asks for and remote write did not send";
  figure(what, missing.join(", ") || "none", "breaches");
};
