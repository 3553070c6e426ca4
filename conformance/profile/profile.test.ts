import { chmodSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { checkProfile, loadProfile, resolveProfile } from "./profile.ts";
import { folderOfFile } from "../testing/folders.ts";
import { problemOf } from "../testing/errors.ts";

const folder = folderOfFile();
let files = 0;
const fileWith = (text: string, ending: string): string => {
  const file = path.join(folder, `profile-${(files += 1)}.${ending}`);
  writeFileSync(file, text);
  return file;
};

const client = { id: "c", secret: { env: "S" }, redirectUri: "https://client.example/cb" };
const sound = { baseUrl: "http://127.0.0.1:1/base", clients: [client] };
const waiver = { id: "code.lifetime", reason: "r", owner: "o", expires: "2030-01-01" };
const plainSecret = "hush-hush-0815";

const problemsOf = async (work: () => unknown): Promise<string> => {
  const text = await problemOf(work);
  expect(text).not.toContain(plainSecret);
  return text;
};

const withHook = (hook: unknown) => ({ hooks: { clock: { now: hook } } });
const withCleanup = (http: object) => ({ hooks: { cleanup: { http } } });
const withClient = (change: object) => ({ clients: [{ ...client, ...change }] });
const withWaivers = (...changes: readonly object[]) => ({
  waivers: changes.map((change) => ({ ...waiver, ...change })),
});
/** Those of the words that the refusal of this profile lacks. */
const unsaid = async (value: unknown, words: readonly string[]): Promise<readonly string[]> => {
  const text = await problemsOf(() => checkProfile(value, "my.json"));
  expect(text).toMatch(/^my\.json: /);
  return words.filter((word) => !text.includes(word));
};

/** Beside the mistakes of docs/reference/mistakes.md, which a test plays on the command line. */
describe("a profile is refused, with the key and what is accepted,", () => {
  it.each<[object, string[]]>([
    [{ limits: { codeLifetime: 1 } }, ["limits", "codeLifetime", "codeLifetimeMs"]],
    [
      {
        clients: [
          { ...client, secret: { env: 1 } },
          { ...client, id: "b", secret: { file: 2 } },
        ],
      },
      ["clients[0].secret.env is", "clients[1].secret.file is"],
    ],
    [
      { slos: { endpoints: { list: { percentilesMs: { "100": 3 } } } } },
      ["slos.endpoints.list.percentilesMs", '"100"', "above 0 and below 100"],
    ],
    [{ tolerances: { latenessMs: -1 } }, ["tolerances.latenessMs is -1", "must be at least 0"]],
    [{ name: "" }, ['name is ""', "must not be empty"]],
    [
      { pins: { observations: { "code.unknown": "x" } } },
      ["pins.observations: code.unknown is derived and never observed", "accepted are unspecified rules"],
    ],
    [{ clients: [client, client, client] }, ["clients", "more than 2"]],
    [{ baseUrl: "localhost:80" }, ["baseUrl", "http:// or https://"]],
    [{ baseUrl: `https://x/?key=${plainSecret}` }, ['baseUrl is "http', "without query"]],
    [
      { baseUrl: `https://user:${plainSecret}@x` },
      ['baseUrl is "http', "without user and password", "`headers` can authorize"],
    ],
    [{ baseUrl: `https://user:${plainSecret}/@x` }, ['baseUrl is "http', "absolute URL"]],
    [withClient({ redirectUri: "cb" }), ["clients[0].redirectUri"]],
    [{ load: { mixed: { authorize: 0, refresh: 0, resume: 0 } } }, ["load.mixed has only weights of 0"]],
    [{ load: { shape: "square" } }, ['load.shape is "square"', "breakpoint, or a list of stages"]],
    [{ clients: { ...client, secret: plainSecret } }, ["clients is an object", "a list"]],
    [withClient({ secret: { env: "S", value: plainSecret } }), ["clients[0].secret", '"value"', "env"]],
    [{ headers: [`authorization: ${plainSecret}`] }, ["headers is a list", "object"]],
    [{ headers: { "a b": plainSecret } }, ['headers."a b"']],
    [{ headers: { Connection: "close" } }, ["headers.Connection cannot be set"]],
    [withHook({ url: "http://x" }), ["hooks.clock.now", '"http"', '"command"']],
    [
      withHook({ http: { url: "http://x", methode: "GET" } }),
      ["hooks.clock.now.http", '"methode"', "method"],
    ],
    [withHook({ command: [] }), ["hooks.clock.now.command", "must not be empty"]],
    [
      withClient({ secret: { command: [""] } }),
      ["clients[0].secret.command[0]", "must not be empty (The program.)"],
    ],
    [withHook({ http: { url: "x/{{ms}}" } }), ["hooks.clock.now.http.url", "http://"]],
    [{ notApplicable: { nope: "x" } }, ['"nope"', "touchstone rules"]],
    [{ pins: { readings: { "authorize.state-length": "bites" } } }, ['"bites"', "bytes-after-decoding"]],
    [
      { hooks: { events: { trigger: { command: ["x", "{{acountId}}"] } } } },
      ["hooks.events.trigger", "{{acountId}}", 'did you mean "accountId"', "{{clientId}}"],
    ],
    [withHook({ command: ["x"], result: "now" }), ["hooks.clock.now.result", '"now"', '"/now"']],
    [withHook({ command: ["x", "{{ms}}"] }), ["has no placeholders"]],
    [{ hooks: { clock: { advance: { command: ["x", "{{ ms }}"] } } } }, ["{{ ms }}", "accepted are {{ms}}"]],
    [withWaivers({ id: "authorize.redirect" }), ["waivers[0].id", "unspecified", "never fails the gate"]],
    [withWaivers({}, {}), ["waivers[1].id", "already has a waiver"]],
    [
      { network: { proxy: { url: `http://u:${plainSecret}@proxy:1` } } },
      ['network.proxy.url is "http', "without user and password", '{ "env": NAME } for one that has them'],
    ],
    [
      withCleanup({ url: `https://user:${plainSecret}@x/` }),
      ['hooks.cleanup.http.url is "http', "`hooks.cleanup.http.headers` can authorize"],
    ],
    [
      { receiver: { attach: { controlUrl: `https://user:${plainSecret}@receiver.example` } } },
      ['receiver.attach.controlUrl is "http', "`receiver.attach.token` opens it"],
    ],
    [{ headers: { "x-one": 5 } }, ['headers."x-one" is (a number, not shown)', '"env": NAME']],
    [
      withCleanup({ url: "http://x/", body: { a: [{ $secret: { env: "A" }, b: 1 }] } }),
      ['hooks.cleanup.http.body.a[0] has the key "$secret" but is not a secret'],
    ],
    [{ concurrency: { maxCases: 2.5 } }, ["concurrency.maxCases is "]],
    [{ network: { resolve: { a: "b" } } }, ["network.resolve.a", '"b"', "IPv4"]],
  ])("for %j", async (change, words) => {
    expect(await unsaid({ ...sound, ...change }, words)).toEqual([]);
  });

  it.each([
    [null, ["the profile"]],
    [[], ["the profile", "object"]],
  ])("for %j instead of an object", async (value, words) => {
    expect(await unsaid(value, words)).toEqual([]);
  });

  it("for several mistakes, which are reported together", async () => {
    const text = await problemsOf(() => checkProfile({ baseUrl: 5, clients: [client], limit: {} }));
    expect(text.split("\n").length).toBeGreaterThanOrEqual(2);
  });
});

describe("a profile's file", () => {
  it.each([
    ["json", `{"baseUrl": "x", "clientSecret": ${plainSecret}}`, ["not valid JSON"]],
    ["json", `{"clientSecret": "${plainSecret}",}`, ["JSON"]],
    ["mjs", "throw 'it rained';", ["it rained"]],
    ["mjs", "export default {", [""]],
    [
      "ts",
      "export default { baseUrl: 5 as unknown as string };",
      ["baseUrl is 5", 'lacks the key "clients"'],
    ],
  ])("of kind %s with %j is refused", async (ending, text, words) => {
    const file = fileWith(text, ending);
    const problems = await problemsOf(() => loadProfile(file, {}));
    expect(problems).toContain(file);
    for (const word of words) expect(problems).toContain(word);
  });

  it("yields the same profile as JSON and as a module", async () => {
    const text = JSON.stringify({ $schema: "x", ...sound });
    for (const file of [fileWith(text, "json"), fileWith(`export default ${text};`, "ts")]) {
      const resolved = await loadProfile(file, { S: plainSecret });
      expect(resolved.sources).toEqual([file]);
      expect(resolved.clients).toEqual([{ id: "c", secret: plainSecret, redirectUri: client.redirectUri }]);
      expect(JSON.stringify(resolved.profile)).not.toContain(plainSecret);
    }
  });
});

describe("a secret", () => {
  it("is read from a file beside the profile, without the final newline", async () => {
    writeFileSync(path.join(folder, "secret"), `${plainSecret}\r\n`, { mode: 0o600 });
    const file = fileWith(
      JSON.stringify({ ...sound, ...withClient({ secret: { file: "secret" } }) }),
      "json",
    );
    expect((await loadProfile(file, {})).clients[0]?.secret).toBe(plainSecret);
  });

  it.each([
    [{ env: "EMPTY" }, ["EMPTY"]],
    [{ env: "toString" }, ["the environment variable toString is not set"]],
    [{ env: "__proto__" }, ["the environment variable __proto__ is not set"]],
    [{ file: path.join(folder, "empty") }, ["is empty"]],
  ])("is reported if it cannot be read from %j", async (secret, words) => {
    writeFileSync(path.join(folder, "empty"), "\n", { mode: 0o600 });
    const profile = checkProfile({ ...sound, ...withClient({ secret }) });
    const text = await problemsOf(() => resolveProfile(profile, { EMPTY: "" }));
    for (const word of words) expect(text).toContain(word);
  });

  it.runIf(process.platform !== "win32").each(["640", "604", "666"])(
    "is refused in a file of mode %s, which others can read",
    async (octal) => {
      const file = path.join(folder, `open-${octal}`);
      writeFileSync(file, plainSecret);
      chmodSync(file, Number.parseInt(octal, 8));
      const profile = checkProfile({ ...sound, ...withClient({ secret: { file } }) });
      const text = await problemsOf(() => resolveProfile(profile, {}));
      for (const word of [file, `mode ${octal}`, "chmod 600"]) expect(text).toContain(word);
    },
  );

  it.each([
    [
      ["sh", "-c", "exit 3", plainSecret],
      ["sh failed", "ended with 3"],
    ],
    [["sh", "-c", "echo the safe is locked >&2; exit 1", plainSecret], ["the safe is locked"]],
    [["sh", "-c", "true", plainSecret], ["printed nothing"]],
    [["no-such-program-here", plainSecret], ["there is no such program"]],
    [
      ["no\0program", plainSecret],
      ["failed", "ERR_INVALID_ARG_VALUE"],
    ],
  ])("is reported if the command %j fails, without its arguments", async (command, words) => {
    const profile = checkProfile({ ...sound, ...withClient({ secret: { command } }) });
    const text = await problemsOf(() => resolveProfile(profile, {}));
    for (const word of ["clients[0].secret", ...words]) expect(text).toContain(word);
  });

  it("is what a command prints, without the final newline", async () => {
    const secret = { command: ["printf", "%s%s\\n", "", plainSecret] };
    const profile = checkProfile({ ...sound, ...withClient({ secret }) });
    expect((await resolveProfile(profile, {})).clients[0]?.secret).toBe(plainSecret);
  });

  it("is refused if both clients share it, as rules present one in place of the other", async () => {
    const profile = checkProfile({ ...sound, clients: [client, { ...client, id: "d" }] });
    expect(await problemsOf(() => resolveProfile(profile, { S: plainSecret }))).toContain(
      "clients[1].secret: it is the same",
    );
  });
});
