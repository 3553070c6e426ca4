import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { seal } from "../../../reports/testing/seal.ts";
import { writeGateRun, writeLoadRun } from "../../../reports/testing/records.ts";

const client = { id: "c", secret: { env: "TOUCHSTONE_UNSET" }, redirectUri: "https://client.example/cb" };

/** Makes the files and folders that mistakes are made with, below `folder`, and returns what fills a line with them. */
export const placesFor = (folder: string): ((line: string) => readonly string[]) => {
  const at = (name: string): string => path.join(folder, name);
  const file = (name: string, content: unknown): string => {
    writeFileSync(at(name), typeof content === "string" ? content : JSON.stringify(content), { mode: 0o600 });
    return at(name);
  };
  const secret = { file: file("secret", "s3cret-of-the-client") };
  const sound = { baseUrl: "http://127.0.0.1:9", clients: [{ ...client, secret }] };
  mkdirSync(at("empty"));
  for (const name of ["gate", "altered", "newer"]) writeGateRun(at(name), { seed: 1, failing: [] });
  writeLoadRun(at("load"), { seed: 1, seconds: 2, requests: 20 });
  const run = (name: string): string => path.join(at(name), "run.json");
  seal(at("altered"), ["run.json"]);
  writeFileSync(run("altered"), `${readFileSync(run("altered"), "utf8")} `);
  writeFileSync(run("newer"), readFileSync(run("newer"), "utf8").replace('"version": 1', '"version": 99'));
  const places: Readonly<Record<string, string>> = {
    ...Object.fromEntries(["empty", "gate", "altered", "newer", "load"].map((name) => [name, at(name)])),
    file: file("file", "a text"),
    broken: file("broken.json", "{"),
    unknownKey: file("unknown-key.json", { ...sound, baseURL: "x" }),
    noClients: file("no-clients.json", { baseUrl: sound.baseUrl }),
    noScheme: file("no-scheme.json", { ...sound, baseUrl: "staging.example" }),
    unset: file("unset.json", { ...sound, clients: [client] }),
    dead: file("dead.json", sound),
    elsewhere: file("elsewhere.json", { ...sound, baseUrl: "https://staging.example" }),
    badPlan: file("plan.json", { rules: [], otherwise: { kind: "answre" } }),
  };
  return (line) =>
    line.split(" ").map((word) => word.replace(/\{(\w+)\}/, (_, name: string) => places[name] ?? ""));
};
