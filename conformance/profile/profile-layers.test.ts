import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ConfigurationError } from "../contract/problem.ts";
import { loadProfile } from "./profile.ts";
import { folderOfFile } from "../testing/folders.ts";
import { errorOf } from "../testing/errors.ts";

const folder = folderOfFile();
beforeAll(() => {
  mkdirSync(path.join(folder, "environments"));
});
const write = (name: string, value: unknown): string => {
  const file = path.join(folder, name);
  writeFileSync(file, JSON.stringify(value));
  return file;
};

const hook = (url: string) => ({ http: { url } });
const base = {
  name: "base",
  baseUrl: "http://127.0.0.1:1",
  clients: [
    { id: "a", secret: { env: "A" }, redirectUri: "https://a.example/" },
    { id: "b", secret: { env: "B" }, redirectUri: "https://b.example/" },
  ],
  headers: { "x-one": "1", "x-two": "2" },
  tolerances: { visibilityMs: 5, requestTimeoutMs: 6 },
  hooks: { clock: { now: hook("http://127.0.0.1:1/now"), advance: hook("http://127.0.0.1:1/on") } },
};
const environment = { A: "secret of a", B: "secret of b" };

const problemsOf = async (files: readonly string[]): Promise<readonly string[]> =>
  (await errorOf(loadProfile(files, environment), ConfigurationError)).problems;

describe("a profile of several files", () => {
  it("merges objects key by key, with later files taking precedence", async () => {
    const files = [
      write("base.json", base),
      write("staging.json", { name: "staging", headers: { "x-two": "3" }, tolerances: { visibilityMs: 7 } }),
    ];
    const { profile, sources } = await loadProfile(files, environment);
    expect(profile).toMatchObject({
      name: "staging",
      baseUrl: base.baseUrl,
      headers: { "x-one": "1", "x-two": "3" },
      tolerances: { visibilityMs: 7, requestTimeoutMs: 6 },
    });
    expect(sources).toEqual(files);
  });

  it("replaces lists and alternatives as a whole", async () => {
    const over = {
      clients: [{ id: "c", secret: { env: "B" }, redirectUri: "https://c.example/" }],
      hooks: { clock: { now: { command: ["date"] } } },
    };
    const { profile, clients } = await loadProfile(
      [write("base.json", base), write("over.json", over)],
      environment,
    );
    expect(clients.map(({ id }) => id)).toEqual(["c"]);
    expect(profile.hooks?.clock).toEqual({ now: { command: ["date"] }, advance: base.hooks.clock.advance });
  });

  it("removes keys that a later file sets to null, at any depth", async () => {
    const over = {
      name: null,
      headers: { "x-two": null, "x-three": { env: "A" } },
      tolerances: { visibilityMs: null, latenessMs: null },
      hooks: { clock: { advance: null }, cleanup: null },
      limits: null,
    };
    const files = [write("base.json", base), write("over.json", over)];
    const { profile } = await loadProfile(files, environment);
    expect(profile).toMatchObject({
      headers: { "x-one": "1", "x-three": environment.A },
      tolerances: { requestTimeoutMs: 6 },
      hooks: { clock: { now: base.hooks.clock.now } },
    });
    expect(Object.keys(profile)).not.toContain("name");
    expect(Object.keys(profile.headers ?? {})).toEqual(["x-one", "x-three"]);
    expect(Object.keys(profile.tolerances ?? {})).toEqual(["requestTimeoutMs"]);
    expect(Object.keys(profile.hooks?.clock ?? {})).toEqual(["now"]);
  });

  it("refuses null for a required key, and null in the first file", async () => {
    const taken = await problemsOf([write("base.json", base), write("over.json", { clients: null })]);
    expect(taken[0]).toMatch(/lacks the key "clients"/);
    expect((await problemsOf([write("base.json", { ...base, name: null })]))[0]).toMatch(/name is null/);
  });

  it("replaces the secret source of a header, and a pinned observation, as a whole", async () => {
    const first = {
      ...base,
      headers: { "x-one": { env: "A", prefix: "a " } },
      pins: { observations: { "exchange.errors": { a: 1 } } },
    };
    const over = {
      headers: { "x-one": { env: "B" } },
      pins: { observations: { "exchange.errors": { b: null } } },
    };
    const { profile } = await loadProfile([write("base.json", first), write("over.json", over)], environment);
    expect(profile.headers).toEqual({ "x-one": environment.B });
    expect(profile.pins?.observations).toEqual({ "exchange.errors": { b: null } });
  });

  it("resolves a secret file or command relative to the profile that names it", async () => {
    const secret = path.join(folder, "environments", "secret");
    writeFileSync(secret, "from the environment's folder\n", { mode: 0o600 });
    const script = path.join(folder, "environments", "print.sh");
    writeFileSync(script, "#!/bin/sh\necho from a program\n");
    chmodSync(script, 0o700);
    const files = [
      write("environments/staging.json", {
        clients: [
          { ...base.clients[0], secret: { file: "secret" } },
          { ...base.clients[1], secret: { command: ["./print.sh"] } },
        ],
      }),
    ];
    const { clients } = await loadProfile([write("base.json", base), ...files], environment);
    expect(clients.map((client) => client.secret)).toEqual([
      "from the environment's folder",
      "from a program",
    ]);
  });

  it("reports each mistake with the file that contains it", async () => {
    const [first, second] = [
      write("base.json", { ...base, tolerances: { visibilityMs: "soon" } }),
      write("over.json", { limits: { codeLifetime: 5 }, pins: { readings: { "no.rule": "x" } } }),
    ];
    const problems = await problemsOf([first, second]);
    expect(problems.find((text) => text.includes("visibilityMs"))).toMatch(/base\.json: /);
    expect(problems.find((text) => text.includes("codeLifetime"))).toMatch(
      /over\.json: limits has the unknown key "codeLifetime" \(did you mean "codeLifetimeMs"\?\)/,
    );
    const missing = await problemsOf([write("empty.json", {}), write("name.json", { name: "x" })]);
    expect(missing[0]).toMatch(/empty\.json \+ .*name\.json: the profile lacks the key "baseUrl"/);
    const id = await problemsOf([
      write("base.json", base),
      write("over.json", { pins: { readings: { "no.rule": "x" } } }),
    ]);
    expect(id[0]).toMatch(/over\.json: pins\.readings: "no\.rule" is not a requirement id/);
    const unset = write("over.json", { clients: [{ ...base.clients[0], secret: { env: "NOWHERE" } }] });
    expect((await problemsOf([write("base.json", base), unset]))[0]).toMatch(/over\.json: .*NOWHERE/);
  });
});
