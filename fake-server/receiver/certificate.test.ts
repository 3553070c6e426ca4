import { X509Certificate } from "node:crypto";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { eachTestIn } from "../../conformance/testing/folders.ts";
import { stopAfterEach } from "../../conformance/testing/stopping.ts";
import { certificatesFor } from "./certificate.ts";
import { startReceiver } from "./start.ts";
import { notification, openSender } from "./testing/sender.ts";

const stopping = stopAfterEach();
let folder = "";
eachTestIn((home) => (folder = path.join(home, "kept")));

const nowMs = Date.parse("2026-06-01T00:00:00Z");
const hosts = ["127.0.0.1", "localhost", "::1"];

describe("the receiver's certificate", () => {
  it("is made on first use for the given hosts, with keys that only the owner can read", async () => {
    const { own, caPem, caFile } = await certificatesFor({ hosts, nowMs, folder });
    const leaf = new X509Certificate(own.certPem);
    const ca = new X509Certificate(caPem ?? "");
    expect(leaf.verify(ca.publicKey)).toBe(true);
    expect([leaf.checkIP("127.0.0.1"), leaf.checkIP("::1"), leaf.checkHost("localhost")]).not.toContain(
      undefined,
    );
    expect([ca.ca, leaf.ca]).toEqual([true, false]);
    expect(Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)).toBeLessThan(398 * 86_400_000);
    expect(await readFile(caFile ?? "", "utf8")).toBe(caPem);
    for (const key of ["ca-key.pem", "server-key.pem"])
      expect((await stat(path.join(folder, key))).mode & 0o077).toBe(0);
    expect((await stat(folder)).mode & 0o077).toBe(0);
  });

  it("has subject and authority key identifiers (RFC 5280, 4.2.1.1 and 4.2.1.2)", async () => {
    const { own, caPem } = await certificatesFor({ hosts, nowMs });
    const {
      AuthorityKeyIdentifierExtension,
      SubjectKeyIdentifierExtension,
      X509Certificate: Parsed,
    } = await import("@peculiar/x509");
    const [leaf, ca] = [new Parsed(own.certPem), new Parsed(caPem ?? "")];
    const authority = leaf.getExtension(AuthorityKeyIdentifierExtension)?.keyId;
    expect(authority).toMatch(/^[0-9a-f]{40}$/);
    expect(ca.getExtension(SubjectKeyIdentifierExtension)?.keyId).toBe(authority);
    expect(leaf.getExtension(SubjectKeyIdentifierExtension)?.keyId).toMatch(/^[0-9a-f]{40}$/);
  });

  it("is reused, and renewed before it or its authority expires", async () => {
    const first = await certificatesFor({ hosts, nowMs, folder });
    const second = await certificatesFor({ hosts, nowMs, folder });
    expect(second.own.certPem).toBe(first.own.certPem);
    const year = await certificatesFor({ hosts, nowMs: nowMs + 390 * 86_400_000, folder });
    expect(year.caPem).toBe(first.caPem);
    expect(year.own.certPem).not.toBe(first.own.certPem);
    const decade = await certificatesFor({ hosts, nowMs: nowMs + 3_649 * 86_400_000, folder });
    expect(decade.caPem).not.toBe(first.caPem);
  });

  it("gets a new authority, with a word to the operator, if the stored one is not yet valid", async () => {
    const told: string[] = [];
    const onTrouble = (message: string) => void told.push(message);
    const first = await certificatesFor({ hosts, nowMs, folder, onTrouble });
    const before = await certificatesFor({ hosts, nowMs: nowMs - 400 * 86_400_000, folder, onTrouble });
    expect(before.caPem).not.toBe(first.caPem);
    expect(told).toEqual([
      expect.stringMatching(/^the authority in .+ is valid from May 31 .+ senders must trust$/),
    ]);
  });

  it("is issued again by the same authority when a host is added", async () => {
    const first = await certificatesFor({ hosts, nowMs, folder });
    const second = await certificatesFor({ hosts: [...hosts, "receiver.staging.example"], nowMs, folder });
    expect(second.caPem).toBe(first.caPem);
    expect(new X509Certificate(second.own.certPem).checkHost("receiver.staging.example")).toBeDefined();
  });

  it.each(["ca-key.pem", "server-key.pem"])("is refused if others can read %s", async (key) => {
    await certificatesFor({ hosts, nowMs, folder });
    await chmod(path.join(folder, key), 0o640);
    await expect(certificatesFor({ hosts, nowMs, folder })).rejects.toThrow(
      new RegExp(`${key} has mode 640, so others can read the key.*chmod 600 `),
    );
  });

  it("is refused as a configuration error if the files in its folder cannot be used", async () => {
    await certificatesFor({ hosts, nowMs, folder });
    await writeFile(path.join(folder, "ca.pem"), "nonsense");
    await expect(certificatesFor({ hosts, nowMs, folder })).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringMatching(/ca\.pem or ca-key\.pem.*remove both/),
    });
    await expect(
      certificatesFor({ hosts, nowMs, folder: path.join(folder, "ca.pem", "x") }),
    ).rejects.toMatchObject({ name: "ConfigurationError" });
  });

  it("can be the user's own, with the authority taken from its chain", async () => {
    const made = await certificatesFor({ hosts, nowMs: Date.now() });
    const chain = { certPem: made.own.certPem + (made.caPem ?? ""), keyPem: made.own.keyPem };
    const receiver = await stopping(startReceiver({ certificate: chain }));
    expect(receiver.caPem?.trim()).toBe(made.caPem?.trim());
    expect(receiver.caFile).toBeUndefined();
    const sender = openSender(receiver);
    expect(await sender.send(notification())).toMatchObject({ status: 200 });
    sender.close();
    expect((await certificatesFor({ hosts, nowMs, certificate: made.own })).caPem).toBeUndefined();
  });

  it("is refused if it does not match its key or cannot be read", async () => {
    const [one, other] = [await certificatesFor({ hosts, nowMs }), await certificatesFor({ hosts, nowMs })];
    const start = (certPem: string, keyPem: string) => startReceiver({ certificate: { certPem, keyPem } });
    for (const [cert, key, message] of [
      [one.own.certPem, other.own.keyPem, /it does not belong to the certificate/],
      ["text", other.own.keyPem, /^certificate: it cannot be read/],
      [one.own.certPem, "text", /^key: it cannot be read/],
    ] as const)
      await expect(start(cert, key)).rejects.toMatchObject({
        name: "ConfigurationError",
        message: expect.stringMatching(message),
      });
  });
});
