import { writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { currentLeaf, makeCa } from "../../fake-server/receiver/certificate.ts";
import { ConfigurationError } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import { loadProfile } from "./profile.ts";
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

/** What a profile in the folder with these parts is resolved to, or its problems. */
const load = async (more: object, environment: Record<string, string> = {}) => {
  const client = { id: "a", secret: { env: "A" }, redirectUri: "https://a.example/" };
  write("profile.json", JSON.stringify({ baseUrl: "https://service.test", clients: [client], ...more }));
  const loading = loadProfile(path.join(folder, "profile.json"), { A: "secret of a", ...environment });
  return loading.catch((error: unknown) => {
    if (!(error instanceof ConfigurationError)) throw error;
    return { problems: error.problems, network: undefined, receiver: undefined };
  });
};

describe("the network of a profile", () => {
  it("is empty if the profile does not set it", async () => {
    expect((await load({ network: {} })).network).toEqual({ resolve: {} });
  });

  it("has its files, relative to the profile, and its secrets resolved", async () => {
    const network: Profile["network"] = {
      caFile: "ca.pem",
      clientCertificate: { certFile: "cert.pem", keyFile: "key.pem" },
      proxy: { url: { env: "PROXY" }, except: [".test"] },
      resolve: { "service.test": "::1" },
    };
    expect((await load({ network }, { PROXY: `http://u:${plainSecret}@proxy:3128` })).network).toEqual({
      ca: pem.ca,
      clientCertificate: { cert: pem.cert, key: pem.key, passphrase: undefined },
      proxy: { url: `http://u:${plainSecret}@proxy:3128/`, except: [".test"] },
      resolve: { "service.test": "::1" },
    });
  });
});

describe("the receiver of a profile", () => {
  it("listens on this machine if the profile does not set it", async () => {
    expect((await load({})).receiver).toEqual({ kind: "listen" });
  });

  it("can be attached at another address, with its token", async () => {
    const controlUrl = "https://receiver.example:9444";
    const receiver = { attach: { controlUrl, token: { env: "TOKEN" } } };
    expect((await load({ receiver }, { TOKEN: "open" })).receiver).toEqual({
      kind: "attach",
      controlUrl,
      token: "open",
    });
  });

  it("reads its certificate from files relative to the profile", async () => {
    const certificate = { certFile: "cert.pem", keyFile: "key.pem" };
    const receiver = { listen: { port: 9_443, certificate, certificateFolder: "made" } };
    expect((await load({ receiver })).receiver).toEqual({
      kind: "listen",
      port: 9_443,
      certificate: { certPem: pem.cert, keyPem: pem.key },
      certificateFolder: path.join(folder, "made"),
    });
  });
});

const pair = (more: object) => ({
  network: { clientCertificate: { certFile: "cert.pem", keyFile: "key.pem", ...more } },
});

it.each<[string, object, readonly string[]]>([
  [
    "a CA file that does not exist",
    { network: { caFile: "none.pem" } },
    ["network.caFile", path.join(folder, "none.pem")],
  ],
  [
    "a CA file without a certificate",
    { network: { caFile: "words.pem" } },
    ["network.caFile", "no PEM certificate"],
  ],
  [
    "a key that others can read",
    pair({ keyFile: "wide.pem" }),
    ["network.clientCertificate.keyFile", "mode 644", "chmod 600"],
  ],
  [
    "a key that does not match the certificate",
    pair({ keyFile: "other.pem" }),
    ["network.clientCertificate", "do not match"],
  ],
  ["an unset proxy", { network: { proxy: { url: { env: "NONE" } } } }, ["network.proxy.url", "NONE"]],
  [
    "a proxy that is not an address",
    { network: { proxy: { url: { env: "WORDS" } } } },
    ["network.proxy.url", "not an address"],
  ],
  [
    "an unset token of a receiver",
    { receiver: { attach: { controlUrl: "https://receiver.example", token: { env: "NONE" } } } },
    ["receiver.attach.token: ", "NONE is not set"],
  ],
])("a profile with %s is refused, without showing secrets", async (_, more, words) => {
  const found = await load(more, { WORDS: `${plainSecret}@proxy` });
  const text = "problems" in found ? found.problems.join("\n") : "it was accepted";
  for (const word of words) expect(text).toContain(word);
  expect(text).not.toContain(plainSecret);
});
