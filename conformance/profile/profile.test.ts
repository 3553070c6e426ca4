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
const hush = "hush-hush-0815";

const problemsOf = async (work: () => unknown): Promise<string> => {
  const text = await problemOf(work);
  expect(text).not.toContain(hush);
  return text;
};

const withHook = (hook: unknown) => ({ ...sound, hooks: { clock: { now: hook } } });

describe("a mistake in a profile is told by its key, its value and what is accepted", () => {
  it.each([
    ["an unknown key", { ...sound, baseURL: "x" }, ['unknown key "baseURL"', "accepted are", "baseUrl"]],
    [
      "an unknown inner key",
      { ...sound, limits: { codeLifetime: 1 } },
      ["limits", "codeLifetime", "codeLifetimeMs"],
    ],
    ["a missing key", { clients: [client] }, ['lacks the key "baseUrl"']],
    [
      "a wrong type",
      { ...sound, limits: { codeLifetimeMs: "10m" } },
      ["limits.codeLifetimeMs", '"10m"', "number"],
    ],
    [
      "a number that is too small",
      { ...sound, limits: { codeLifetimeMs: 0 } },
      ["limits.codeLifetimeMs is 0", "> 0"],
    ],
    ["no client", { ...sound, clients: [] }, ["clients", "must not be empty"]],
    ["three clients", { ...sound, clients: [client, client, client] }, ["clients", "more than 2"]],
    ["one client twice", { ...sound, clients: [client, client] }, ["clients[1].id", '"c"']],
    ["a URL without scheme", { ...sound, baseUrl: "localhost/x" }, ["baseUrl", '"localhost/x"', "http://"]],
    ["another scheme", { ...sound, baseUrl: "localhost:80" }, ["baseUrl", "http:// or https://"]],
    ["a base address with a query", { ...sound, baseUrl: "http://x/?a" }, ["baseUrl", "without query"]],
    [
      "a base address with a password",
      { ...sound, baseUrl: `http://u:${hush}@x/` },
      ["baseUrl", "without user"],
    ],
    [
      "a redirectUri without scheme",
      { ...sound, clients: [{ ...client, redirectUri: "cb" }] },
      ["clients[0].redirectUri"],
    ],
    [
      "a secret in the profile",
      { ...sound, clients: [{ ...client, secret: hush }] },
      ["clients[0].secret", '"env"', '"file"'],
    ],
    [
      "a secret that is null",
      { ...sound, clients: [{ ...client, secret: null }] },
      ["clients[0].secret is null"],
    ],
    [
      "visits of no weight",
      { ...sound, load: { mixed: { authorize: 0, refresh: 0, resume: 0 } } },
      ["load.mixed has the weight 0 for every visit"],
    ],
    ["stages of no rate", { ...sound, load: { shape: ["1s:0"] } }, ["load.shape: all stages have 0"]],
    [
      "a client that is none",
      { ...sound, clients: { ...client, secret: hush } },
      ["clients is an object", "a list"],
    ],
    [
      "a secret beside its source",
      { ...sound, clients: [{ ...client, secret: { env: "S", value: hush } }] },
      ["clients[0].secret", '"value"', "env"],
    ],
    [
      "a header that is none",
      { ...sound, headers: [`authorization: ${hush}`] },
      ["headers is a list", "object"],
    ],
    [
      "a header's value that is none",
      { ...sound, headers: { authorization: { value: hush } } },
      ["headers.authorization"],
    ],
    ["a header that cannot be sent", { ...sound, headers: { "a b": hush } }, ['headers."a b"']],
    [
      "a value that cannot be sent",
      { ...sound, authorize: { headers: { a: `${hush}\n` } } },
      ["authorize.headers.a"],
    ],
    [
      "a header that is not the user's",
      { ...sound, headers: { Connection: "close" } },
      ["headers.Connection cannot be set"],
    ],
    ["a hook that is neither", withHook({ url: "http://x" }), ["hooks.clock.now", '"http"', '"command"']],
    [
      "an unknown key in a hook",
      withHook({ http: { url: "http://x", methode: "GET" } }),
      ["hooks.clock.now.http", '"methode"', "method"],
    ],
    ["an empty command", withHook({ command: [] }), ["hooks.clock.now.command", "must not be empty"]],
    [
      "a hook without scheme",
      withHook({ http: { url: "x/{{ms}}" } }),
      ["hooks.clock.now.http.url", "http://"],
    ],
    [
      "an unknown id in a pin",
      { ...sound, pins: { observations: { "authorize.redirects": 1 } } },
      ['"authorize.redirects"', "authorize.redirect,"],
    ],
    [
      "an unknown id that does not apply",
      { ...sound, notApplicable: { nope: "x" } },
      ['"nope"', "touchstone rules"],
    ],
    [
      "an unknown reading",
      { ...sound, pins: { readings: { "authorize.state-length": "bites" } } },
      ['"bites"', "bytes-after-decoding"],
    ],
    [
      "a reading of a rule that has none",
      { ...sound, pins: { readings: { "code.unknown": "x" } } },
      ["code.unknown", "it has none"],
    ],
    [
      "a placeholder that the hook is not given",
      { ...sound, hooks: { events: { trigger: { command: ["x", "{{acountId}}"] } } } },
      ["hooks.events.trigger", "{{acountId}}", 'did you mean "accountId"', "{{clientId}}"],
    ],
    [
      "a pointer that is none",
      withHook({ command: ["x"], result: "now" }),
      ["hooks.clock.now.result", '"now"', '"/now"'],
    ],
    ["a placeholder where there is none", withHook({ command: ["x", "{{ms}}"] }), ["has no placeholders"]],
    [
      "a placeholder with blanks",
      { ...sound, hooks: { clock: { advance: { command: ["x", "{{ ms }}"] } } } },
      ["{{ ms }}", "accepted are {{ms}}"],
    ],
    [
      "a waiver of an unknown rule",
      { ...sound, waivers: [{ ...waiver, id: "code.lifetim" }] },
      ["waivers[0].id", "code.lifetime"],
    ],
    [
      "a waiver of what never fails",
      { ...sound, waivers: [{ ...waiver, id: "authorize.redirect" }] },
      ["waivers[0].id", "unspecified", "never fails the gate"],
    ],
    ["a waiver twice", { ...sound, waivers: [waiver, waiver] }, ["waivers[1].id", "already has a waiver"]],
    [
      "a waiver until no day",
      { ...sound, waivers: [{ ...waiver, expires: "2030-02-30" }] },
      ["waivers[0].expires", "2030-02-30"],
    ],
    [
      "a proxy with its password",
      { ...sound, network: { proxy: { url: `http://u:${hush}@proxy:1` } } },
      ["network.proxy.url", "without user and password", '"env"'],
    ],
    [
      "a name that is to be found at a name",
      { ...sound, network: { resolve: { a: "b" } } },
      ["network.resolve.a", '"b"', "IPv4"],
    ],
    ["an unknown way", { ...sound, network: { insecure: true } }, ["network", '"insecure"', "caFile"]],
    ["nothing", null, ["the profile"]],
    ["a list", [], ["the profile", "object"]],
  ])("%s", async (_, value, words) => {
    const text = await problemsOf(() => checkProfile(value, "my.json"));
    expect(text).toMatch(/^my\.json: /);
    for (const word of words) expect(text).toContain(word);
  });

  it("and several mistakes are told at once", async () => {
    const text = await problemsOf(() => checkProfile({ baseUrl: 5, clients: [client], limit: {} }));
    expect(text.split("\n").length).toBeGreaterThanOrEqual(2);
  });
});

describe("a profile's file", () => {
  it.each([
    ["json", "{", ["JSON"]],
    ["json", `{"baseUrl": "x", "clientSecret": ${hush}}`, ["not valid JSON"]],
    ["json", `{"clientSecret": "${hush}",}`, ["JSON"]],
    ["yaml", "baseUrl: x", [".json, .ts, .mts, .js and .mjs"]],
    ["mjs", "export const profile = {};", ["default export", "defineProfile"]],
    ["mjs", "throw new Error('it rained');", ["it rained"]],
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

  it("that does not exist is refused", async () => {
    expect(await problemsOf(() => loadProfile(path.join(folder, "none.json"), {}))).toContain("no such file");
    expect(await problemsOf(() => loadProfile(path.join(folder, "none.ts"), {}))).toContain("none.ts");
  });

  it("gives the same profile as JSON and as a module", async () => {
    const text = JSON.stringify({ $schema: "x", ...sound });
    for (const file of [fileWith(text, "json"), fileWith(`export default ${text};`, "ts")]) {
      const resolved = await loadProfile(file, { S: hush });
      expect(resolved.source).toBe(file);
      expect(resolved.clients).toEqual([{ id: "c", secret: hush, redirectUri: client.redirectUri }]);
      expect(JSON.stringify(resolved.profile)).not.toContain(hush);
    }
  });
});

describe("a secret", () => {
  it("is read from a file beside the profile, without the line's end", async () => {
    writeFileSync(path.join(folder, "secret"), `${hush}\r\n`, { mode: 0o600 });
    const file = fileWith(
      JSON.stringify({ ...sound, clients: [{ ...client, secret: { file: "secret" } }] }),
      "json",
    );
    expect((await loadProfile(file, {})).clients[0]?.secret).toBe(hush);
  });

  it.each([
    [{ env: "MISSING" }, ["clients[0].secret", "MISSING", "set it"]],
    [{ env: "EMPTY" }, ["EMPTY"]],
    [{ file: "nowhere" }, ["nowhere", "cannot be read"]],
    [{ file: "empty" }, ["is empty"]],
  ])("that cannot be had from %j is told", async (secret, words) => {
    writeFileSync(path.join(folder, "empty"), "\n", { mode: 0o600 });
    const profile = checkProfile({ ...sound, clients: [{ ...client, secret }] });
    const text = await problemsOf(() => resolveProfile(profile, { EMPTY: "" }, path.join(folder, "p.json")));
    for (const word of words) expect(text).toContain(word);
  });

  it.runIf(process.platform !== "win32").each([0o640, 0o604, 0o666])(
    "in a file of mode %o is refused, as others can read it",
    async (mode) => {
      const file = path.join(folder, `open-${mode}`);
      writeFileSync(file, hush);
      chmodSync(file, mode);
      const profile = checkProfile({ ...sound, clients: [{ ...client, secret: { file } }] });
      const text = await problemsOf(() => resolveProfile(profile, {}));
      for (const word of [file, `mode ${mode.toString(8)}`, "chmod 600"]) expect(text).toContain(word);
    },
  );

  it.each([
    [
      ["sh", "-c", "exit 3", hush],
      ["sh failed", "ended with 3"],
    ],
    [["sh", "-c", "echo the safe is locked >&2; exit 1", hush], ["the safe is locked"]],
    [["sh", "-c", "true", hush], ["printed nothing"]],
    [["no-such-program-here", hush], ["there is no such program"]],
  ])("that the command %j does not tell is told, without its arguments", async (command, words) => {
    const profile = checkProfile({ ...sound, clients: [{ ...client, secret: { command } }] });
    const text = await problemsOf(() => resolveProfile(profile, {}));
    for (const word of ["clients[0].secret", ...words]) expect(text).toContain(word);
  });

  it("is what a command prints, without the line's end", async () => {
    const secret = { command: ["printf", "%s\\n", hush] };
    const profile = checkProfile({ ...sound, clients: [{ ...client, secret }] });
    expect((await resolveProfile(profile, {})).clients[0]?.secret).toBe(hush);
  });

  it("that both clients share is told, as rules present one in the place of the other", async () => {
    const profile = checkProfile({ ...sound, clients: [client, { ...client, id: "d" }] });
    expect(await problemsOf(() => resolveProfile(profile, { S: hush }))).toContain(
      "clients[1].secret: it is the same",
    );
  });
});
