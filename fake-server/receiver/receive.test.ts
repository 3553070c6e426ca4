import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import { serveTcp } from "../../conformance/testing/servers.ts";
import { receive, type ReceiveOptions, type ReceiverAddresses } from "./receive.ts";
import { notification, openSender } from "./testing/sender.ts";

const folder = folderOfFile();

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

const pushTo = async ({ callbackUrl, caFile = "" }: ReceiverAddresses, address?: string) => {
  const sender = openSender({ callbackUrl, caPem: await readFile(caFile, "utf8") }, address);
  const sent = await sender.send(notification());
  sender.close();
  return sent;
};

const file = async (name: string, text: string): Promise<string> => {
  const full = path.join(folder, name);
  await writeFile(full, text);
  return full;
};

describe("touchstone receive", () => {
  it("reports its addresses, authority, page and journal, and ends when aborted", async () => {
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
        status = await pushTo(addresses);
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

  it("reports a generated token only if one is needed", async () => {
    const tokens: (string | undefined)[] = [];
    const note = async ({ token }: ReceiverAddresses): Promise<void> => void tokens.push(token);
    await run({ http: true }, note);
    await run({ http: true, host: "0.0.0.0" }, note);
    await run({ http: true, host: "0.0.0.0", tokenEnv: "RECEIVER_TOKEN" }, note, { RECEIVER_TOKEN: "t" });
    expect(tokens).toEqual([undefined, expect.stringMatching(/^[\w-]{32}$/), undefined]);
  });

  it("uses the given public host and certificate folder", async () => {
    const certificateFolder = path.join(folder, "kept here");
    const seen: ReceiverAddresses[] = [];
    const options = { host: "0.0.0.0", publicHost: "receiver.staging.example", certificateFolder };
    const statuses: unknown[] = [];
    for (let time = 0; time < 2; time += 1)
      await run(options, async (addresses) => {
        seen.push(addresses);
        statuses.push(await pushTo(addresses, "127.0.0.1"));
      });
    expect(statuses).toMatchObject([{ status: 200 }, { status: 200 }]);
    for (const { callbackUrl, caFile } of seen) {
      expect(callbackUrl).toMatch(/^https:\/\/receiver\.staging\.example:\d+\/service\/webhook$/);
      expect(caFile).toBe(path.join(certificateFolder, "ca.pem"));
    }
  });

  it("refuses a port in use for the receiver or its control interface", async () => {
    const { origin, stop } = await serveTcp(() => {});
    const port = Number(new URL(origin).port);
    await expect(run({ http: true, port })).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringContaining(String(port)),
    });
    await expect(run({ http: true, controlPort: port })).rejects.toMatchObject({
      name: "ConfigurationError",
    });
    await stop();
  });

  it.each<[string, ReceiveOptions, RegExp]>([
    ["a token from no variable", { host: "0.0.0.0", tokenEnv: "toString" }, /variable toString is not set/],
    ["a certificate without its key", { certFile: "c.pem" }, /--cert needs --key/],
    [
      "a missing certificate file",
      { certFile: "/no/c", keyFile: "/no/k" },
      /--cert: cannot read \/no\/c \(there is no such file\)/,
    ],
    [
      "a public host with a scheme",
      { http: true, publicHost: "https://receiver.example" },
      /public host is "https:\/\/receiver\.example".*without scheme/,
    ],
    [
      "a certificate folder with plain HTTP",
      { http: true, certificateFolder: "kept" },
      /--certificate-folder.*--http.*remove one of the two/,
    ],
    [
      "a certificate folder with a certificate of the user's own",
      { certFile: "c", keyFile: "k", certificateFolder: "kept" },
      /--certificate-folder.*--cert/,
    ],
    ["a path without a leading slash", { path: "hook" }, /path is "hook"/],
    ["a path with a query", { path: "/hook?x" }, /without a query/],
  ])("refuses %s", async (_, options, message) => {
    await expect(run(options)).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringMatching(message),
    });
  });
});
