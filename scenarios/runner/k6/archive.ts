import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdtempDisposableSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { errorMessage } from "../../../conformance/contract/text.ts";

/** Where k6 publishes its releases: an archive per platform, with a file of checksums. */
export const releases = "https://github.com/grafana/k6/releases/download";

const archives: Readonly<
  Record<string, { readonly platform: string; readonly ending: string; readonly unpack: readonly string[] }>
> = {
  linux: { platform: "linux", ending: "tar.gz", unpack: ["tar", "-xzf"] },
  darwin: { platform: "macos", ending: "zip", unpack: ["unzip", "-q"] },
};
const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** The maximum archive size accepted; k6's archives have about 30 MB. */
const MOST_BYTES = 400_000_000;

/** What every way to install k6 needs. */
export interface InstallOptions {
  readonly version: string;
  /** Where temporary folders may be created, on the cache's file system. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (line: string) => void;
}

export interface ArchiveOptions extends InstallOptions {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  /** Base address of the releases; differs only in tests. */
  readonly baseUrl: string;
}

/**
 * Downloads the release archive, compares it with its published checksum, then unpacks it and passes the binary to
 * `place`, which moves it to its destination. Returns the reason if that fails. Throws only when the signal aborts.
 */
export const fromArchive = async (
  options: ArchiveOptions,
  place: (binary: string) => void,
): Promise<string | undefined> => {
  const { version, folder, platform, architecture, baseUrl, signal, onProgress } = options;
  const archive = archives[platform];
  const processor = architectures[architecture];
  if (archive === undefined || processor === undefined)
    return `the project publishes no usable k6 for ${platform} on ${architecture}`;
  const name = `k6-v${version}-${archive.platform}-${processor}.${archive.ending}`;
  using target = mkdtempDisposableSync(path.join(folder, "archive-"));
  try {
    onProgress(`downloading ${name}`);
    const base = `${baseUrl}/v${version}`;
    const checksums = (await download(`${base}/k6-v${version}-checksums.txt`, signal)).toString("utf8");
    const wanted = checksumOf(checksums, name);
    if (wanted === undefined) return `the published checksums do not name ${name}`;
    const bytes = await download(`${base}/${name}`, signal);
    const found = createHash("sha256").update(bytes).digest("hex");
    if (found !== wanted) return `${name} has the SHA-256 ${found}; the published one is ${wanted}`;
    writeFileSync(path.join(target.path, name), bytes);
    const [program = "", ...flags] = archive.unpack;
    await promisify(execFile)(program, [...flags, name], { cwd: target.path, signal });
    const binary = readdirSync(target.path, { recursive: true, withFileTypes: true }).find(
      (entry) => entry.isFile() && entry.name === "k6",
    );
    if (binary === undefined) return "the archive has no k6";
    const file = path.join(binary.parentPath, binary.name);
    chmodSync(file, 0o755);
    place(file);
    return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    return errorMessage(error);
  }
};

/** A line in sha256sum format: hash, spaces, name. */
const checksumOf = (checksums: string, name: string): string | undefined =>
  checksums
    .split("\n")
    .map((line) => /^([0-9a-f]{64})\s+\*?(\S+)\s*$/i.exec(line))
    .find((match) => match?.[2] === name)?.[1]
    ?.toLowerCase();

const download = async (address: string, signal: AbortSignal | undefined): Promise<Buffer> => {
  let answer: Response;
  try {
    answer = await fetch(address, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new Error(`${address} cannot be reached (${errorMessage(cause)})`, { cause: error });
  }
  if (!answer.ok) throw new Error(`${address} answered with status ${answer.status}`);
  if (Number(answer.headers.get("content-length") ?? 0) > MOST_BYTES)
    throw new Error(`${address} is larger than any k6 release`);
  return Buffer.from(await answer.arrayBuffer());
};
