import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { readReason, tooWide } from "../contract/files.ts";
import type { SecretSource } from "../contract/profile.ts";
import { withDeadline } from "../world/clock.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A secret, or a sentence that says why there is none; the sentence never holds any of it. */
export type SecretReading = { readonly value: string } | string;

export type SecretReader = (where: SecretSource) => Promise<SecretReading>;

const COMMAND_TIMEOUT_MS = 30_000;

/** Fetches secrets; files are looked for beside `source`, the profile's own file. */
export const secretReader =
  (environment: Environment, source: string): SecretReader =>
  async (where) => {
    if ("env" in where) {
      const value = withoutLineEnd(environment[where.env] ?? "");
      return value === ""
        ? `the environment variable ${where.env} is not set; ${where.env.startsWith("$") ? "write its name without $" : "set it to the secret itself"}`
        : { value };
    }
    return "file" in where
      ? fromFile(path.resolve(path.dirname(source), where.file))
      : fromCommand(where.command);
  };

const fromFile = async (file: string): Promise<SecretReading> => {
  const read = await readPrivate(file);
  if (typeof read === "string") return read;
  const value = withoutLineEnd(read.value);
  return value === "" ? `the file ${file} is empty` : { value };
};

/** The text of a secret file, which only its owner may read or write. */
export const readPrivate = async (file: string): Promise<SecretReading> => {
  try {
    const { mode } = await stat(file);
    return tooWide(file, mode, process.platform, "the secret") ?? { value: await readFile(file, "utf8") };
  } catch (error) {
    return `the file ${file} cannot be read: ${readReason(error)}`;
  }
};

const fromCommand = async ([program = "", ...parameters]: readonly string[]): Promise<SecretReading> => {
  const printed = await withDeadline(
    COMMAND_TIMEOUT_MS,
    undefined,
    (signal) =>
      new Promise<SecretReading>((resolve) => {
        const child = execFile(
          program,
          parameters,
          { killSignal: "SIGKILL", signal },
          (error, stdout, stderr) => {
            if (error === null) resolve({ value: withoutLineEnd(stdout) });
            else if (signal.aborted)
              resolve(`the command ${program} did not end within ${COMMAND_TIMEOUT_MS} ms`);
            else resolve(`the command ${program} failed: ${whyFailed(error, stderr)}`);
          },
        );
        child.stdin?.end();
      }),
  );
  if (typeof printed === "string") return printed;
  return printed.value === "" ? `the command ${program} printed nothing` : printed;
};

/** What it wrote to standard error, or how it ended: the error's own message would quote its arguments. */
const whyFailed = (error: Error & { readonly code?: unknown }, stderr: string): string => {
  const said = stderr.trim().slice(0, 200);
  if (said !== "") return said;
  return error.code === "ENOENT" ? "there is no such program" : `it ended with ${String(error.code)}`;
};

const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, "");
