import { writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { currentLeaf, makeCa } from "../../fake-server/receiver/make-certificate.ts";
import type { Profile } from "../contract/profile.ts";
import { checkProfile } from "./profile-check.ts";
import { resolveNetwork } from "./profile-network.ts";
import { collectProblems } from "./profile-problems.ts";
import { secretReader } from "./profile-secret.ts";
import { folderOfFile } from "../testing/folders.ts";

const plainSecret = "hush-hush-0815";
const folder = folderOfFile();
let pem: { readonly ca: string; readonly cert: string; readonly key: string };
beforeAll(async () => {
  const ca = await makeCa(Date.now());
  const leaf = await currentLeaf(ca, ["client.test"], Date.now());
  pem = { ca: ca.certPem, cert: leaf.certPem, key: leaf.keyPem };
  write("ca.pem", pem.ca);
  write("cert.pem", pem.cert);
  write("key.pem", pem.key, 0o600);
  write("wide.pem", pem.key, 0o644);
  write("other.pem", ca.keyPem, 0o600);
  write("words.pem", "not a certificate");
});
const write = (name: string, text: string, mode = 0o644): void =>
  writeFileSync(path.join(folder, name), text, { mode });

const resolve = (network: Profile["network"], environment: Record<string, string> = {}) => {
  const source = path.join(folder, "profile.json");
  const client = { id: "a", secret: { env: "A" }, redirectUri: "https://a.example/" };
  const profile = checkProfile({ baseUrl: "https://service.test", clients: [client], network });
  const problems = collectProblems();
  return resolveNetwork(profile, secretReader(environment, source), source, problems).then((settings) => ({
    settings,
    problems: problems.all.map(({ text }) => text),
  }));
};

describe("the network of a profile", () => {
  it("is empty if the profile does not set it", async () => {
    expect(await resolve({})).toEqual({ settings: { resolve: {} }, problems: [] });
  });

  it("has its files and secrets resolved", async () => {
    const found = await resolve(
      {
        caFile: "ca.pem",
        clientCertificate: { certFile: "cert.pem", keyFile: "key.pem" },
        proxy: { url: { env: "PROXY" }, except: [".test"] },
        resolve: { "service.test": "::1" },
      },
      { PROXY: `http://u:${plainSecret}@proxy:3128` },
    );
    expect(found).toEqual({
      problems: [],
      settings: {
        ca: pem.ca,
        clientCertificate: { cert: pem.cert, key: pem.key, passphrase: undefined },
        proxy: { url: `http://u:${plainSecret}@proxy:3128/`, except: [".test"] },
        resolve: { "service.test": "::1" },
      },
    });
  });

  it.each<[string, NonNullable<Profile["network"]>, readonly string[]]>([
    ["a CA file that does not exist", { caFile: "none.pem" }, ["network.caFile", "none.pem"]],
    ["a CA file without a certificate", { caFile: "words.pem" }, ["network.caFile", "no PEM certificate"]],
    [
      "a key that others can read",
      { clientCertificate: { certFile: "cert.pem", keyFile: "wide.pem" } },
      ["network.clientCertificate.keyFile", "mode 644", "chmod 600"],
    ],
    [
      "a key that does not match the certificate",
      { clientCertificate: { certFile: "cert.pem", keyFile: "other.pem" } },
      ["network.clientCertificate", "do not match"],
    ],
    [
      "an unset passphrase",
      { clientCertificate: { certFile: "cert.pem", keyFile: "key.pem", passphrase: { env: "NONE" } } },
      ["network.clientCertificate.passphrase", "NONE"],
    ],
    ["an unset proxy", { proxy: { url: { env: "NONE" } } }, ["network.proxy.url", "NONE"]],
    [
      "a proxy that is not an address",
      { proxy: { url: { env: "WORDS" } } },
      ["network.proxy.url", "not an address"],
    ],
  ])("reports %s, without showing secrets", async (_, network, words) => {
    const found = await resolve(network, { WORDS: `${plainSecret}@proxy` });
    const text = found.problems.join("\n");
    for (const word of words) expect(text).toContain(word);
    expect(text).not.toContain(plainSecret);
  });
});
