import { readFileSync, statSync } from "node:fs";
import { fileReason } from "../contract/files.ts";
import { ConfigurationError } from "../problem.ts";
import { openLedger, type Ledger } from "./store.ts";

/** Environment variable with the passphrase of a ledger. */
export const ledgerKeyVariable = "TOUCHSTONE_LEDGER_KEY";

const SHORTEST_KEY = 16;

/**
 * Opens the ledger that a run was given, with the passphrase of a key file or of the environment.
 * Throws ConfigurationError where there is no key, where it is short enough to be guessed, and where
 * others may read its file.
 */
export const ledgerFromFlags = (
  file: string,
  keyFile: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Ledger => {
  const from = keyFile === undefined ? ledgerKeyVariable : `--ledger-key-file ${keyFile}`;
  const key = keyFile === undefined ? environment[ledgerKeyVariable] : readKey(keyFile);
  if (key === undefined || key === "")
    throw new ConfigurationError([
      `--ledger ${file}: it holds credentials and needs a key; set ${ledgerKeyVariable}, or name a file with --ledger-key-file`,
    ]);
  if (key.length < SHORTEST_KEY)
    throw new ConfigurationError([
      `${from}: the key has ${key.length} characters; accepted are ${SHORTEST_KEY} or more, such as \`openssl rand -base64 32\` prints`,
    ]);
  return openLedger(file, key);
};

const readKey = (file: string): string => {
  try {
    const mode = statSync(file).mode & 0o777;
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw new ConfigurationError([
        `--ledger-key-file ${file}: others may read it (mode ${mode.toString(8)}); accepted is mode 600: chmod 600 ${file}`,
      ]);
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError([`--ledger-key-file ${file} cannot be read (${fileReason(error)})`]);
  }
};
