import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { profileOf, secretsOf, startFakeServer } from "../../../fake-server/index.ts";
import { writeGateRun, writeLoadRun } from "../../../reports/testing/records.ts";
import { recordOf } from "../../../reports/testing/fixture.ts";
import { listening, serveTcp } from "../servers.ts";
import { createServer } from "node:http2";

/** Nothing listens there. */
const deadAddress = "http://127.0.0.1:9";
const SECRET = "s3cret-of-the-client";
const client = { id: "c", secret: { env: "TOUCHSTONE_UNSET" }, redirectUri: "https://client.example/cb" };

/** Writes a file below `folder`, readable only by its owner, and returns its path. */
const fileIn =
  (folder: string) =>
  (name: string, content: unknown, mode = 0o600): string => {
    const place = path.join(folder, name);
    writeFileSync(place, typeof content === "string" ? content : JSON.stringify(content), { mode });
    return place;
  };

/** Run directories: sound ones, and some that cannot be read. */
const runsIn = (folder: string): Readonly<Record<string, string>> => {
  const at = (name: string): string => path.join(folder, name);
  const names = ["gate", "old", "cut", "bare", "foreign"];
  for (const name of names) writeGateRun(at(name), { seed: 1, failing: [] });
  writeGateRun(at("other"), { seed: 1, record: { target: { ...recordOf().target, name: "another shop" } } });
  writeLoadRun(at("load"), { seed: 1, seconds: 2, requests: 20 });
  const run = (name: string): string => path.join(at(name), "run.json");
  writeFileSync(run("old"), readFileSync(run("old"), "utf8").replace(/"version": \d+/, '"version": 1'));
  const text = readFileSync(run("gate"), "utf8");
  writeFileSync(run("cut"), text.slice(0, text.length / 2));
  writeFileSync(run("bare"), text.replace(/"cases": ?\[/, '"items": ['));
  writeFileSync(run("foreign"), '{"name":"a run of another program"}');
  return Object.fromEntries([...names, "other", "load"].map((name) => [name, at(name)]));
};

/** Clock files of libfaketime with one mistake each, by the names of their profiles. */
const clocksIn = (folder: string): Readonly<Record<string, string>> => {
  const file = fileIn(folder);
  mkdirSync(path.join(folder, "clock-is-a-folder"));
  mkdirSync(path.join(folder, "lock-is-a-folder.lock"));
  // The first process of a machine always lives.
  file("clock-in-use.lock", "1");
  return {
    noClockFile: path.join(folder, "no-clock"),
    noClockFolder: path.join(folder, "none/clock"),
    clockIsFolder: path.join(folder, "clock-is-a-folder"),
    clockUnread: file("clock-unread", "tomorrow"),
    clockOfStart: file("clock-of-start", "@2026-01-31 12:00:00"),
    clockLocked: file("lock-is-a-folder", "+0"),
    clockInUse: file("clock-in-use", "+0"),
  };
};

/** Profiles with one mistake each, found before anything is sent. */
const profilesIn = (folder: string): Readonly<Record<string, string>> => {
  const file = fileIn(folder);
  const secret = { file: file("secret", SECRET) };
  const sound = { baseUrl: deadAddress, clients: [{ ...client, secret }] };
  const withSecret = (own: unknown): unknown => ({ ...sound, clients: [{ ...client, secret: own }] });
  const waiver = { id: "code.single-use", reason: "known", owner: "us", expires: "2030-02-31" };
  const clocks = Object.entries(clocksIn(folder)).map(
    ([name, clock]) => [name, { ...sound, hooks: { clock: { faketime: { file: clock } } } }] as const,
  );
  const profiles = {
    ...Object.fromEntries(clocks),
    dead: sound,
    unknownKey: { ...sound, baseURL: "x" },
    noClients: { baseUrl: sound.baseUrl },
    noScheme: { ...sound, baseUrl: "staging.example" },
    elsewhere: { ...sound, baseUrl: "https://staging.example" },
    wrongType: { ...sound, tolerances: { visibilityMs: "5" } },
    unset: withSecret(client.secret),
    secretAsText: withSecret(SECRET),
    noSecretFile: withSecret({ file: "none.key" }),
    openSecretFile: withSecret({ file: file("open.key", SECRET, 0o644) }),
    clientTwice: { ...sound, clients: [sound.clients[0], sound.clients[0]] },
    placeholder: { ...sound, hooks: { clock: { advance: { command: ["/bin/true", "{{millis}}"] } } } },
    waiver: { ...sound, waivers: [waiver] },
    pin: { ...sound, pins: { observations: { "authorize.bogus": 1 } } },
  };
  mkdirSync(path.join(folder, "folder.json"));
  return {
    ...Object.fromEntries(
      Object.entries(profiles).map(([name, profile]) => [name, file(`${name}.json`, profile)]),
    ),
    broken: file("broken.json", "{"),
    folder: path.join(folder, "folder.json"),
    noDefault: file("no-default.mts", "export const profile = {};"),
    throws: file("throws.mts", 'throw new Error("no such cluster");'),
    notInstalled: file("not-installed.mts", 'import "not-installed-here"; export default {};'),
  };
};

/** Profiles of a running service with one mistake each, which shows once a request is sent. */
const servicesIn = async (folder: string) => {
  const fake = await startFakeServer();
  const closing = await serveTcp((socket) => socket.once("data", () => socket.destroy()));
  const http2 = await listening(createServer());
  const file = fileIn(folder);
  const secret = { file: file("secret-of-the-fake", Object.values(secretsOf(fake))[0]) };
  const clients = [{ ...profileOf(fake).clients[0], secret }];
  const wrong = [{ ...clients[0], secret: { file: file("wrong-secret", SECRET) } }];
  const hooked = (advance: unknown): unknown => ({ hooks: { clock: { advance } } });
  const change: Readonly<Record<string, unknown>> = {
    tooFar: { baseUrl: `${fake.baseUrl}/open-api` },
    overTls: { baseUrl: fake.baseUrl.replace("http:", "https:") },
    closing: { baseUrl: closing.origin },
    closingTls: { baseUrl: closing.origin.replace("http:", "https:") },
    onlyHttp2: { baseUrl: http2.origin },
    wrongSecret: { clients: wrong },
    slowHook: hooked({ command: ["/bin/sleep", "30"], timeoutMs: 50 }),
    noHook: hooked({ http: { url: `${fake.baseUrl}/no-such-hook` } }),
    stillHook: hooked({ command: ["/bin/true"] }),
  };
  const sound = { baseUrl: fake.baseUrl, clients };
  return {
    places: {
      usedPort: new URL(fake.baseUrl).port,
      ...Object.fromEntries(
        Object.entries(change).map(([name, own]) => [
          name,
          file(`${name}.json`, { ...sound, ...(own as object) }),
        ]),
      ),
    },
    stop: async () => {
      await fake.stop();
      await closing.stop();
      await http2.stop();
    },
  };
};

/** Creates the files and servers that mistakes need, below `folder`, and returns a function that fills them into a line. */
export const openPlaces = async (folder: string) => {
  const { places: services, stop } = await servicesIn(folder);
  mkdirSync(path.join(folder, "empty"));
  const file = fileIn(folder);
  const places: Readonly<Record<string, string>> = {
    empty: path.join(folder, "empty"),
    file: file("file", "a text"),
    badPlan: file("plan.json", { rules: [], otherwise: { kind: "answre" } }),
    deadAddress,
    ...runsIn(folder),
    ...profilesIn(folder),
    ...services,
  };
  const fill = (line: string): readonly string[] =>
    line
      .split(" ")
      .map((word) => word.replace(/(?<!\{)\{(\w+)\}/, (_, name: string) => places[name] ?? `no ${name}`));
  return { fill, secret: SECRET, stop };
};
