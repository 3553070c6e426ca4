import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Profile } from "../contract/profile.ts";
import { checkProfile } from "./profile.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { collectProblems } from "./profile-problems.ts";
import type { SecretReader } from "./profile-secret.ts";
import { resolveReceiver } from "./receiver-settings.ts";
import { folderOfFile } from "../testing/folders.ts";

const folder = folderOfFile();
const profileWith = (receiver: Profile["receiver"]): Profile =>
  checkProfile({
    baseUrl: "https://service.example",
    clients: [{ id: "a", secret: { env: "A" }, redirectUri: "https://a.example/" }],
    ...(receiver === undefined ? {} : { receiver }),
  });
const readSecret: SecretReader = (where) =>
  "env" in where && where.env === "TOKEN"
    ? Promise.resolve("open")
    : Promise.reject(new ConfigurationError("it is not set"));
const resolve = async (receiver: Profile["receiver"]) => {
  const problems = collectProblems();
  const source = path.join(folder, "profile.json");
  const settings = await resolveReceiver(profileWith(receiver), readSecret, source, problems);
  return problems.all.length === 0 ? settings : problems.all.map(({ text }) => text);
};

describe("the receiver of a profile", () => {
  it("listens on this machine if the profile does not set it", async () => {
    expect(await resolve(undefined)).toEqual({ kind: "listen" });
  });

  it("can be attached at another address, with its token", async () => {
    const controlUrl = "https://receiver.example:9444";
    expect(await resolve({ attach: { controlUrl, token: { env: "TOKEN" } } })).toEqual({
      kind: "attach",
      controlUrl,
      token: "open",
    });
    expect(await resolve({ attach: { controlUrl, token: { env: "OTHER" } } })).toEqual([
      "receiver.attach.token: it is not set",
    ]);
    await expect(resolve({ attach: { controlUrl: "receiver.example" } })).rejects.toThrow(
      "receiver.attach.controlUrl",
    );
  });

  it("reads its certificate from files relative to the profile", async () => {
    writeFileSync(path.join(folder, "cert.pem"), "a certificate");
    writeFileSync(path.join(folder, "key.pem"), "a key", { mode: 0o600 });
    const listen = { port: 9_443, certificate: { certFile: "cert.pem", keyFile: "key.pem" } };
    expect(await resolve({ listen })).toEqual({
      kind: "listen",
      port: 9_443,
      certificate: { certPem: "a certificate", keyPem: "a key" },
    });
    expect(await resolve({ listen: { certificate: { certFile: "cert.pem", keyFile: "none.pem" } } })).toEqual(
      [expect.stringContaining("keyFile")],
    );
  });

  it("is refused with unknown keys or values, by key", () => {
    expect(() => profileWith({ listen: { prot: 1 } } as never)).toThrow(/receiver.*prot/s);
    expect(() => profileWith({ listen: { scheme: "ftp" } } as never)).toThrow(/receiver/);
  });
});
