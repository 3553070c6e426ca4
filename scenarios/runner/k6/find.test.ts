import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveHttp, type TestServer } from "../../../conformance/testing/servers.ts";
import { startModule } from "../../../conformance/testing/start-cli.ts";
import { runnerClock } from "../clock.ts";
import { findK6, k6Status, type FindOptions } from "./find.ts";
import { ConfigurationError } from "../../../conformance/contract/problem.ts";
import { eachTestIn } from "../../../conformance/testing/folders.ts";

const k6Script = (version: string): string => `#!/bin/sh\necho "k6 v${version} (go1.26.8, linux/amd64)"\n`;

let folder: string;
eachTestIn((made) => (folder = made));

const program = (name: string, text: string): string => {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
};

/** The stand-ins for k6 and go need a shell and its tools. */
const environment = (extra: Record<string, string>, ...folders: readonly string[]): NodeJS.ProcessEnv => ({
  PATH: [...folders.map((name) => path.join(folder, name)), "/usr/bin", "/bin"].join(path.delimiter),
  TOUCHSTONE_CACHE: path.join(folder, "cache"),
  ...extra,
});

/** Looks for k6 in these folders, with these variables. */
const find = (
  folders: readonly string[],
  { extra = {}, ...more }: Partial<FindOptions> & { readonly extra?: Record<string, string> } = {},
) => findK6({ environment: environment(extra, ...folders), clock: runnerClock, ...more });

const nowhere = { baseUrl: "http://127.0.0.1:1", platform: "linux", architecture: "x64" } as const;
const cached = (): string => path.join(folder, "cache/k6/v1.8.1/k6");

describe("findK6", () => {
  it("prefers the k6 that TOUCHSTONE_K6 names", async () => {
    const file = program("mine/k6", k6Script("2.0.1"));
    program("bin/k6", k6Script("1.0.0"));
    const found = await find(["bin"], { extra: { TOUCHSTONE_K6: file } });
    expect(found).toEqual({ path: file, version: "2.0.1", from: "TOUCHSTONE_K6", tried: [] });
  });

  it.each([
    ["a missing file", () => path.join(folder, "none"), /there is no such file/],
    [
      "a version that is too old",
      () => program("old/k6", k6Script("0.57.0")),
      /version 0\.57\.0; 1\.0 or later/,
    ],
    ["another program", () => program("other", "#!/bin/sh\necho hello\n"), /printed "hello"/],
    ["a program that fails", () => program("failing", "#!/bin/sh\nexit 3\n"), /exit code 3/],
  ])("refuses TOUCHSTONE_K6 with %s, and looks no further", async (_, make, reason) => {
    program("bin/k6", k6Script("1.8.1"));
    await expect(find(["bin"], { extra: { TOUCHSTONE_K6: make() } })).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringMatching(reason),
    });
  });

  it("skips an outdated k6 on PATH, notes it, and takes the next", async () => {
    const old = program("a/k6", k6Script("0.49.0"));
    const good = program("b/k6", k6Script("1.2.3"));
    const found = await find(["a", "b"]);
    expect(found).toMatchObject({ path: good, version: "1.2.3", from: "PATH" });
    expect(found.tried).toContainEqual({
      where: `PATH (${old})`,
      outcome: "it is version 0.49.0; 1.0 or later is needed",
    });
  });

  it("builds k6 with go into the cache, and finds it there the next time", async () => {
    const log = path.join(folder, "go.log");
    program(
      "bin/go",
      `#!/bin/sh\necho "$@ $GOSUMDB $GOFLAGS" >> ${log}\necho "go: downloading x v1" >&2\ncat > "$GOBIN/k6" <<'K6'\n${k6Script("1.8.1")}K6\nchmod 755 "$GOBIN/k6"\n`,
    );
    const lines: string[] = [];
    const extra = { GOSUMDB: "off", GOFLAGS: "-mod=vendor" };
    const found = await find(["bin"], { extra, onProgress: (line) => lines.push(line) });
    expect(found).toMatchObject({ path: cached(), version: "1.8.1", from: "go install" });
    expect(readFileSync(log, "utf8")).toBe("install -v go.k6.io/k6@v1.8.1 sum.golang.org -trimpath\n");
    expect(lines[0]).toMatch(/building k6 1\.8\.1/);
    expect(await find(["bin"], { extra })).toMatchObject({ from: "cache", path: cached() });
    expect(existsSync(cached())).toBe(true);
  });

  /** A go that builds a k6 at once. */
  const building = `printf '%s\\n' '#!/bin/sh' 'echo "k6 v1.8.1"' > "$GOBIN/k6"\nchmod 755 "$GOBIN/k6"\n`;

  it("builds k6 once for concurrent callers", async () => {
    const log = path.join(folder, "go.log");
    program("bin/go", `#!/bin/sh\necho built >> ${log}\nsleep 0.6\n${building}`);
    const lines: string[] = [];
    const onProgress = (line: string) => lines.push(line);
    const found = await Promise.all([1, 2, 3].map(() => find(["bin"], { onProgress })));
    expect(found.map(({ from }) => from).toSorted()).toEqual(["cache", "cache", "go install"]);
    expect(readFileSync(log, "utf8")).toBe("built\n");
    expect(lines.filter((line) => line.startsWith("waiting for another"))).toHaveLength(2);
  });

  it("does not wait for a builder that was killed", async () => {
    program("bin/go", `#!/bin/sh\n${building}`);
    const holder = startModule(
      `import { withLock } from ${JSON.stringify(path.join(import.meta.dirname, "archive.ts"))};
       await withLock(${JSON.stringify(path.join(path.dirname(cached()), "lock"))}, { clock: {}, onWait() {} }, () => {
         console.log("held");
         return new Promise((resolve) => setTimeout(resolve, 60_000));
       });`,
    );
    await holder.line();
    const onProgress = (line: string): void =>
      void (line.startsWith("waiting") && holder.child.kill("SIGKILL"));
    const found = await find(["bin"], { onProgress });
    expect(found.from).toBe("go install");
    expect(holder.child.signalCode).toBe("SIGKILL");
  });

  it("leaves nothing in the cache when it is aborted while go builds", async () => {
    program("bin/go", `#!/bin/sh\necho half > "$GOBIN/k6"\nsleep 30\n`);
    const stop = new AbortController();
    const onProgress = () => setTimeout(() => stop.abort(), 100);
    await expect(find(["bin"], { signal: stop.signal, onProgress })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(existsSync(cached())).toBe(false);
  });

  it("lists all that was tried, and what to install, if there is no k6", async () => {
    program("bin/go", "#!/bin/sh\necho 'go: go.k6.io/k6@v1.8.1: dial tcp: no such host' >&2\nexit 1\n");
    const error: unknown = await find(["bin"], { archives: nowhere }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigurationError);
    const { message } = error as ConfigurationError;
    for (const part of [
      "TOUCHSTONE_K6: not set",
      "PATH: no k6 on it",
      "cache (",
      "go install: go install ended with exit code 1: go: go.k6.io",
      "release archive: http://127.0.0.1:1/",
      "Install k6 (",
    ])
      expect(message).toContain(part);
  });

  it("names a cache that cannot be written", async () => {
    writeFileSync(path.join(folder, "cache"), "a file");
    await expect(find([], { archives: nowhere })).rejects.toThrow(/cannot be written .*TOUCHSTONE_CACHE/);
  });
});

describe("k6Status", () => {
  it("reports the k6 that would be used, or the plan if there is none, without acting on it", async () => {
    program("bin/go", "#!/bin/sh\nexit 1\n");
    const none = await k6Status({ environment: environment({}, "bin") });
    expect(none).toMatchObject({
      found: undefined,
      plan: expect.stringMatching(/builds k6 1\.8\.1 with .*bin\/go/),
    });
    expect(existsSync(path.join(folder, "cache"))).toBe(false);
    program("bin/k6", k6Script("1.1.0"));
    expect(await k6Status({ environment: environment({}, "bin") })).toMatchObject({
      found: { from: "PATH" },
    });
  });
});

describe("the release archive", () => {
  const files = new Map<string, Buffer>();
  let server: TestServer;
  let baseUrl: string;
  beforeAll(async () => {
    server = await serveHttp((request, response) => {
      const file = files.get(request.url ?? "");
      response.writeHead(file === undefined ? 404 : 200).end(file);
    });
    baseUrl = `${server.origin}/releases`;
  });
  afterAll(() => server.stop());

  const publish = (
    name: string,
    archive: Buffer,
    checksum = createHash("sha256").update(archive).digest("hex"),
  ): void => {
    files.clear();
    files.set(`/releases/v1.8.1/${name}`, archive);
    files.set(
      "/releases/v1.8.1/k6-v1.8.1-checksums.txt",
      Buffer.from(`${"0".repeat(64)}  other.zip\n${checksum}  ${name}\n`),
    );
  };
  const download = (platform: NodeJS.Platform, architecture: string) =>
    find([], { extra: { PATH: "" }, archives: { baseUrl, platform, architecture } });

  const hasZip = ["zip", "unzip"].every((tool) => spawnSync(tool, ["-v"]).status === 0);
  it.for([
    ["linux", "x64", "k6-v1.8.1-linux-amd64.tar.gz"],
    ["linux", "arm64", "k6-v1.8.1-linux-arm64.tar.gz"],
    ["darwin", "arm64", "k6-v1.8.1-macos-arm64.zip"],
  ] as const)(
    "of %s on %s is unpacked if there is no go",
    async ([platform, architecture, name], { skip }) => {
      skip(name.endsWith(".zip") && !hasZip, "there is no zip and unzip");
      publish(name, archived(name, "k6", k6Script("1.8.1")));
      const found = await download(platform, architecture);
      expect(found).toMatchObject({ from: "release archive", version: "1.8.1", path: cached() });
      expect(statSync(found.path).mode & 0o777).toBe(0o755);
      expect(found.tried.at(-1)).toEqual({ where: "go install", outcome: "there is no go on PATH" });
    },
  );

  it("is rejected if its checksum is not the published one", async () => {
    publish("k6-v1.8.1-linux-amd64.tar.gz", archived("a.tar.gz", "k6", k6Script("1.8.1")), "a".repeat(64));
    await expect(download("linux", "x64")).rejects.toThrow(
      /has the SHA-256 [0-9a-f]{64}; the published one is a{64}/,
    );
    expect(existsSync(cached())).toBe(false);
  });

  it("is not used on platforms without one", async () => {
    await expect(download("win32", "x64")).rejects.toThrow(
      /release archive: the project publishes no usable k6 for win32/,
    );
  });

  it("is rejected if it is missing or contains no k6", async () => {
    files.clear();
    await expect(download("linux", "x64")).rejects.toThrow(/checksums\.txt answered with status 404/);
    publish("k6-v1.8.1-linux-amd64.tar.gz", archived("a.tar.gz", "README", "nothing"));
    await expect(download("linux", "x64")).rejects.toThrow(/the archive has no k6/);
  });
});

/** An archive with one file in a folder, as the project publishes them. */
const archived = (name: string, content: string, text: string): Buffer => {
  const inside = path.join("archive", "k6-v1.8.1", content);
  program(inside, text);
  const cwd = path.join(folder, "archive");
  const [tool, flags] = name.endsWith(".zip") ? ["zip", "-qr"] : ["tar", "-czf"];
  execFileSync(tool ?? "", [flags ?? "", name, "k6-v1.8.1"], { cwd });
  return readFileSync(path.join(cwd, name));
};
