import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import { directoryMode, fileMode } from "../../conformance/contract/files.ts";
import { digestFile, digestFolder, digestPartitions } from "../../conformance/contract/segments.ts";
import { digestBytes, partitionOf, writeDigest } from "./digests.ts";
import type { Issued } from "../protocol.ts";

const BUFFER_BYTES = 512 * digestBytes;

/** The files in which a segment keeps the digests of what was issued, so that a merge finds what another segment got as well. */
export const openDigests = (directory: string) => {
  mkdirSync(path.join(directory, digestFolder), { mode: directoryMode });
  const files = Array.from({ length: digestPartitions }, (_, partition) => ({
    file: openSync(path.join(directory, digestFile(partition)), "ax", fileMode),
    buffer: Buffer.alloc(BUFFER_BYTES),
    filled: 0,
  }));
  type Open = (typeof files)[number];
  const flush = (open: Open): void => {
    for (let written = 0; written < open.filled;)
      written += writeSync(open.file, open.buffer, written, open.filled - written);
    open.filled = 0;
  };
  return {
    /** Throws where it cannot be written. */
    add: (what: Issued, digest: string, atMs: number): void => {
      if (!/^[0-9a-f]{16}$/.test(digest)) return;
      const open = files[partitionOf(digest)] as Open;
      writeDigest(open.buffer, open.filled, { what, digest, atMs });
      open.filled += digestBytes;
      if (open.filled === BUFFER_BYTES) flush(open);
    },
    /** Throws where what was still held cannot be written. */
    flush: () => {
      for (const open of files) flush(open);
    },
    close: () => {
      for (const { file } of files) closeSync(file);
    },
  };
};
