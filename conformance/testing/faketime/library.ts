import { existsSync } from "node:fs";

/** Where Debian, Fedora and Alpine install libfaketime for programs with threads; undefined if it is not installed. */
export const faketimeLibrary = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib64/faketime/libfaketimeMT.so.1",
  "/usr/lib/faketime/libfaketimeMT.so.1",
].find((file) => existsSync(file));

/** The environment in which a program reads its time from the file. */
export const faketimeEnvironment = (file: string): NodeJS.ProcessEnv => ({
  LD_PRELOAD: faketimeLibrary,
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_NO_CACHE: "1",
});
