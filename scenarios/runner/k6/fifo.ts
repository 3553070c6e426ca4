import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { promisify } from "node:util";
import { codeOf } from "../../../conformance/contract/files.ts";
import type { RunnerClock } from "../clock.ts";
import { errorMessage } from "../../../conformance/contract/text.ts";

/** Creates a named pipe that only its owner may use. Throws K6Failed if this machine cannot. */
export const makeFifo = async (file: string): Promise<void> => {
  try {
    await promisify(execFile)("mkfifo", ["-m", "600", file]);
  } catch (error) {
    throw new K6Failed(
      codeOf(error) === "ENOENT"
        ? "k6's samples are read from a named pipe, but there is no mkfifo on PATH to create one; load runs need Linux or macOS with their usual tools"
        : `no named pipe could be created at ${file} (${errorMessage(error)})`,
      { cause: error },
    );
  }
};

/** A pipe holds 64 KiB on Linux, so one read empties it. */
const READ_BYTES = 65_536;
/**
 * k6 writes bursts of 4 KiB. Waking up for each costs more than reading it; during this short rest the pipe fills, and
 * only k6's writing goroutine waits.
 */
const REST_MS = 3;

/**
 * Opens the reading end, and also a writing end: so the pipe ends only when `finish` is called, not before k6 has
 * opened it or if k6 cannot. The bytes passed to the reader are overwritten by the next read.
 */
export const readFifo = (
  file: string,
  clock: Pick<RunnerClock, "sleep">,
  onBytes: (bytes: Uint8Array) => void,
) => {
  const reading = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const writing = openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
  let isHeld = true;
  const finish = (): void => {
    if (isHeld) closeSync(writing);
    isHeld = false;
  };
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const socket = new Socket({
    fd: reading,
    readable: true,
    writable: false,
    onread: {
      buffer: new Uint8Array(READ_BYTES),
      callback: (count, buffer) => {
        try {
          onBytes(buffer.subarray(0, count));
        } catch (error) {
          socket.destroy(error instanceof Error ? error : new Error(String(error)));
        }
        // A paused socket does not keep the process alive: without this sleep it would exit with samples
        // unread.
        void clock.sleep(REST_MS).then(() => socket.resume());
        return false;
      },
    },
  });
  socket.on("error", (error) =>
    reject(new K6Failed(`k6's samples could not be read (${error.message})`, { cause: error })),
  );
  socket.on("close", () => {
    finish();
    resolve();
  });
  socket.resume();
  return {
    /** Lets the pipe end: reads its remaining content, then settles `ended`. Call when the writer is gone. */
    finish,
    destroy: (): void => void socket.destroy(),
    /** Resolves when everything was read; rejects with K6Failed if reading failed or the reader threw. */
    ended,
  };
};

/** k6 could not be started or read: a failure of the harness or of this machine. */
export class K6Failed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "K6Failed";
  }
}
