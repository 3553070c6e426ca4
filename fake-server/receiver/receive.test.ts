import { mkdtemp, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { receive, type ReceiveOptions, type ReceiverAddresses } from "./receive.ts";
import { notification, openSender } from "./testing/sender.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "touchstone-receive-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the command until `whileRunning` is done. */
const run = async (
  options: ReceiveOptions,
  whileRunning: (addresses: ReceiverAddresses) => Promise<void> = () => Promise.resolve(),
  environment: Record<string, string> = {},
): Promise<void> => {
  const ending = new AbortController();
  await receive(options, {
    environment: { XDG_STATE_HOME: folder, ...environment },
    signal: ending.signal,
    trouble: () => undefined,
    listening: (addresses) => void whileRunning(addresses).finally(() => ending.abort()),
  });
};

const file = async (name: string, text: string): Promise<string> => {
  const full = path.join(folder, name);
  await writeFile(full, text);
  return full;
};

describe("touchstone receive", () => {
  it("tells where it listens, what to trust, and where the page is; and ends when it is told to", async () => {
    let seen: ReceiverAddresses | undefined;
    const planFile = await file(
      "plan.json",
      JSON.stringify({ rules: [], otherwise: { kind: "answer", status: 202 } }),
    );
    let status: unknown;
    await run(
      { page: true, journal: path.join(folder, "pushes.jsonl"), path: "/hook", planFile },
      async (addresses) => {
        seen = addresses;
        const { readFile } = await import("node:fs/promises");
        const sender = openSender({
          callbackUrl: addresses.callbackUrl,
          caPem: await readFile(addresses.caFile ?? "", "utf8"),
        });
        status = await sender.send(notification());
        sender.close();
      },
    );
    expect(status).toMatchObject({ status: 202 });
    expect(seen).toEqual({
      callbackUrl: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/hook$/),
      controlUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      pageUrl: `${seen?.controlUrl}/`,
      caFile: path.join(folder, "touchstone", "receiver", "ca.pem"),
      journal: path.join(folder, "pushes.jsonl"),
    });
  });

  it("tells a token that it made up only where one is needed", async () => {
    const tokens: (string | undefined)[] = [];
    const note = (addresses: ReceiverAddresses): Promise<void> => {
      tokens.push(addresses.token);
      return Promise.resolve();
    };
    await run({ http: true }, note);
    await run({ http: true, host: "0.0.0.0" }, note);
    await run({ http: true, host: "0.0.0.0", tokenEnv: "RECEIVER_TOKEN" }, note, { RECEIVER_TOKEN: "t" });
    expect(tokens).toEqual([undefined, expect.stringMatching(/^[\w-]{32}$/), undefined]);
  });

  it("refuses a port in use, of the receiver and of its control interface", async () => {
    const server = net.createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as net.AddressInfo;
    await expect(run({ http: true, port })).rejects.toMatchObject({
      name: "PortInUse",
      message: expect.stringContaining(String(port)),
    });
    await expect(run({ http: true, controlPort: port })).rejects.toMatchObject({ name: "PortInUse" });
    server.close();
  });

  it.each<[string, ReceiveOptions, string, RegExp]>([
    ["a certificate without its key", { certFile: "c.pem" }, "InvalidReceiver", /--cert needs --key/],
    ["a key without its certificate", { keyFile: "k.pem" }, "InvalidReceiver", /--key needs --cert/],
    [
      "a certificate for plain HTTP",
      { certFile: "c", keyFile: "k", http: true },
      "InvalidReceiver",
      /--http shows no certificate/,
    ],
    [
      "a certificate that is not there",
      { certFile: "/no/c", keyFile: "/no/k" },
      "InvalidCertificate",
      /--cert: cannot read \/no\/c \(ENOENT\)/,
    ],
    [
      "a plan that is not there",
      { planFile: "/no/plan" },
      "InvalidPlan",
      /--plan: cannot read \/no\/plan \(ENOENT\)/,
    ],
    ["a token that is not set", { tokenEnv: "NOT_SET" }, "InvalidReceiver", /NOT_SET is not set/],
    ["a path that is none", { path: "hook" }, "InvalidReceiver", /path is "hook"/],
    ["a path with a query", { path: "/hook?x" }, "InvalidReceiver", /without a query/],
  ])("refuses %s", async (_, options, name, message) => {
    await expect(run(options)).rejects.toMatchObject({ name, message: expect.stringMatching(message) });
  });

  it("refuses a plan that is no JSON, or none that can be followed, by its file", async () => {
    await expect(run({ planFile: await file("broken.json", "{") })).rejects.toMatchObject({
      name: "InvalidPlan",
      message: expect.stringMatching(/broken\.json is not JSON/),
    });
    await expect(
      run({ planFile: await file("bad.json", '{"rules":[],"otherwise":{"kind":"x"}}') }),
    ).rejects.toMatchObject({ message: expect.stringMatching(/bad\.json: otherwise\.kind is "x"/) });
  });

  it("refuses a certificate that does not match its key", async () => {
    const { certificatesFor } = await import("./certificate.ts");
    const nowMs = Date.now();
    const [one, other] = [
      await certificatesFor({ hosts: ["localhost"], nowMs }),
      await certificatesFor({ hosts: ["localhost"], nowMs }),
    ];
    const options = {
      certFile: await file("c.pem", one.own.certPem),
      keyFile: await file("k.pem", other.own.keyPem),
    };
    await expect(run(options)).rejects.toMatchObject({ name: "InvalidCertificate" });
  });
});
