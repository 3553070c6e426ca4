import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createSecrets } from "../contract/secrets.ts";
import { concealResolved, checkProfile, loadProfile, resolveProfile } from "./profile.ts";
import { folderOfFile } from "../testing/folders.ts";
import { problemOf } from "../testing/errors.ts";

const folder = folderOfFile();
beforeAll(() => {
  mkdirSync(path.join(folder, "inner"));
});
const write = (name: string, text: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  chmodSync(file, 0o600);
  return file;
};

const base = {
  baseUrl: "http://127.0.0.1:1",
  clients: [{ id: "a", secret: { env: "A" }, redirectUri: "https://a.example/" }],
};
const environment = { A: "the secret of a", GATE: "gate-key-0815", SESSION: "session-4711" };
const print = [process.execPath, "-p", "'printed-0007'"];

const resolved = (more: object, values = environment) =>
  resolveProfile(checkProfile({ ...base, ...more }), values);

describe("secrets of headers, queries and bodies", () => {
  it("are read from their sources, with their prefixes", async () => {
    write("inner/key", "from-a-file-0001\n");
    const { profile } = await loadProfile(
      [
        write("base.json", JSON.stringify(base)),
        write(
          "inner/over.json",
          JSON.stringify({
            headers: { "x-gate": { env: "GATE" }, "x-plain": "as it is" },
            authorize: {
              headers: { cookie: { env: "SESSION", prefix: "session=" } },
              query: { key: { file: "key" } },
            },
            hooks: {
              events: {
                trigger: {
                  http: {
                    url: "http://127.0.0.1:1/events",
                    headers: { authorization: { command: print, prefix: "Bearer " } },
                    body: {
                      account: "{{accountId}}",
                      list: [{ key: { $secret: { file: "key" } }, file: "key" }],
                    },
                  },
                },
              },
            },
          }),
        ),
      ],
      environment,
    );
    expect(profile.headers).toEqual({ "x-gate": "gate-key-0815", "x-plain": "as it is" });
    expect(profile.authorize).toEqual({
      headers: { cookie: "session=session-4711" },
      query: { key: "from-a-file-0001" },
    });
    expect(profile.hooks?.events?.trigger).toEqual({
      http: {
        url: "http://127.0.0.1:1/events",
        headers: { authorization: "Bearer printed-0007" },
        body: { account: "{{accountId}}", list: [{ key: "from-a-file-0001", file: "key" }] },
      },
    });
  });

  it("are masked as secrets, whatever the names of their keys", async () => {
    const secrets = createSecrets();
    const hook = (key: string) => ({
      http: { url: "http://127.0.0.1:1/", body: { harmless: { $secret: { env: key } } } },
    });
    concealResolved(
      secrets,
      await resolved({
        headers: { "x-harmless": { env: "GATE", prefix: "plain " } },
        hooks: { cleanup: hook("SESSION") },
      }),
    );
    expect(secrets.mask('sent x-harmless: plain gate-key-0815, {"harmless":"session-4711"}')).not.toMatch(
      /0815|4711/,
    );
  });

  it("are reported by key, without their values, if they cannot be read", async () => {
    const hook = { http: { url: "http://127.0.0.1:1/", body: { key: { $secret: { env: "NOBODY" } } } } };
    const text = await problemOf(() =>
      resolved({ headers: { "x-one": { env: "NONE" } }, hooks: { clock: { now: hook } } }),
    );
    expect(text).toContain('headers."x-one": the environment variable NONE is not set');
    expect(text).toContain("hooks.clock.now.http.body.key: the environment variable NOBODY is not set");
    const lines = await problemOf(() =>
      resolved({ headers: { "x-one": { env: "GATE" } } }, { ...environment, GATE: "two\nlines" }),
    );
    expect(lines).toMatch(/headers\."x-one": the value stored there cannot be sent in a header/);
    expect(lines).not.toContain("lines");
  });

  it("include user and password of a redirectUri, which are allowed there and masked in output", async () => {
    const secrets = createSecrets();
    const redirectUri = "https://user:hush-hush-0815@client.example/";
    concealResolved(secrets, await resolved({ clients: [{ ...base.clients[0], redirectUri }] }));
    expect(secrets.mask(`redirectUri=${encodeURIComponent(redirectUri)}`)).not.toContain("hush-hush");
  });
});
