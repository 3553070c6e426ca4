import { errorMessage } from "./text.ts";

export const recordFiles = {
  run: "run.json",
  exchanges: "exchanges.jsonl",
  rules: "rules.jsonl",
  pushes: "pushes.jsonl",
} as const;

/** What the profile of a folder may be called. */
export const profileNames = ["ts", "mts", "js", "mjs", "json"].map((ending) => `touchstone.config.${ending}`);

/** Readable by the owner only: credentials are masked, but the rest is a service's own data. */
export const directoryMode = 0o700;
export const fileMode = 0o600;

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "not permitted",
  ENOTDIR: "a part of the path is a file",
  ENOENT: "there is no such folder",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file is larger than allowed here",
  ENAMETOOLONG: "the name is too long",
  EISDIR: "it is a folder",
  EEXIST: "it already exists",
};

export const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "";

/** The code of a Node error; for other errors, the message. */
export const reasonOf = (error: unknown): string => codeOf(error) || errorMessage(error);

export const fileReason = (error: unknown): string => reasons[codeOf(error)] ?? errorMessage(error);

/** Whether the machine, and no mistake of ours, kept a file from being written. */
export const hasNoRoom = (error: unknown): boolean => ["ENOSPC", "EDQUOT", "EFBIG"].includes(codeOf(error));

export const readReason = (error: unknown): string =>
  codeOf(error) === "ENOENT" ? "there is no such file" : fileReason(error);
