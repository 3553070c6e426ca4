import { digestFile, digestPartitions } from "../../conformance/contract/segments.ts";
import type { RunDirectory } from "../../conformance/files/run-directory.ts";
import { digestBytes, partitionOf, writeDigest } from "./digests.ts";
import type { Issued } from "../protocol.ts";

const BUFFER_BYTES = 512 * digestBytes;

/** The files in which a segment keeps the digests of what was issued, so that a merge finds what another segment got as well. */
export const openDigests = ({ append }: Pick<RunDirectory<never>, "append">) => {
  const partitions = Array.from({ length: digestPartitions }, (_, partition) => ({
    file: append(digestFile(partition)),
    buffer: Buffer.alloc(BUFFER_BYTES),
    filled: 0,
  }));
  const flush = (partition: (typeof partitions)[number]): void => {
    partition.file.bytes(partition.buffer.subarray(0, partition.filled));
    partition.filled = 0;
  };
  return {
    add: (what: Issued, digest: string, atMs: number): void => {
      const partition = /^[0-9a-f]{16}$/.test(digest) ? partitions[partitionOf(digest)] : undefined;
      if (partition === undefined) return;
      writeDigest(partition.buffer, partition.filled, { what, digest, atMs });
      partition.filled += digestBytes;
      if (partition.filled === BUFFER_BYTES) flush(partition);
    },
    flush: () => partitions.forEach(flush),
  };
};
