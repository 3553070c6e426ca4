import { readFile } from "node:fs/promises";
import { readReason } from "../contract/files.ts";
import { fieldOf } from "../contract/json.ts";
import { ConfigurationError } from "../contract/problem.ts";
import type { SecretSource, Profile } from "../contract/profile.ts";
import { readPrivate } from "../files/private.ts";
import { withDeadline } from "../world/clock.ts";
import { runProgram } from "../world/hooks/hooks.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a secret. Rejects with a ConfigurationError that says why there is none, and never contains any of it. */
export type SecretReader = (where: SecretSource) => Promise<string>;

const COMMAND_TIMEOUT_MS = 30_000;

export const secretReader =
  (environment: Environment): SecretReader =>
  async (where) => {
    if ("env" in where) {
      const value = fieldOf(environment, where.env);
      return orEmpty(
        typeof value === "string" ? value : "",
        `the environment variable ${where.env} is not set; ${where.env.startsWith("$") ? "write its name without $" : "set it to the secret itself"}`,
      );
    }
    if ("command" in where) return fromCommand(where.command);
    return orEmpty(await readSecretFile(where.file), `the file ${where.file} is empty`);
  };

/** The secret without its trailing line break; throws `isEmpty` if there is none. */
const orEmpty = (text: string, isEmpty: string): string => {
  const value = text.replace(/\r?\n$/, "");
  if (value === "") throw new ConfigurationError(isEmpty);
  return value;
};

/** The text of a file. Rejects with ConfigurationError. */
export const readText = (file: string, read = (one: string) => readFile(one, "utf8")): Promise<string> =>
  read(file).catch((error: unknown) => {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(`the file ${file} cannot be read: ${readReason(error)}`);
  });

/** The text of a file that only its owner may read. */
export const readSecretFile = (file: string): Promise<string> =>
  readText(file, (one) => readPrivate(one, "the secret"));

const fromCommand = async (command: readonly string[]): Promise<string> => {
  const [program] = command;
  const printed = await withDeadline(COMMAND_TIMEOUT_MS, undefined, async (signal) => {
    const { error, stdout, stderr } = await runProgram(command, signal);
    if (error === null) return stdout;
    const why = signal.aborted
      ? `did not end within ${COMMAND_TIMEOUT_MS} ms`
      : `failed: ${whyFailed(error, stderr)}`;
    throw new ConfigurationError(`the command ${program} ${why}`);
  });
  return orEmpty(printed, `the command ${program} printed nothing`);
};

/** The command's standard error, or how it ended. The error's own message would quote its arguments. */
const whyFailed = ({ code }: { readonly code?: unknown }, stderr: string): string => {
  const said = stderr.trim().slice(0, 200);
  if (said !== "") return said;
  return code === "ENOENT" ? "there is no such program" : `it ended with ${String(code)}`;
};

/** Settings of a profile that k6 cannot follow, though a load must reach the target as the gate does. */
export const loadObstacles = ({
  network,
  authorize,
}: Pick<Profile, "network" | "authorize">): readonly string[] => {
  const ways = {
    "network.proxy": network?.proxy,
    "network.resolve": network?.resolve,
    "authorize.code": authorize?.code,
  };
  return Object.entries(ways).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [
          `${key}: a load run cannot follow it; accepted is a profile without it (keep it in a separate file that only the gate adds)`,
        ],
  );
};

/** The environment in which a load run of this profile finds its k6. Throws ConfigurationError. */
export const loadEnvironment = (
  profile: Pick<Profile, "network" | "authorize">,
  environment: Environment,
): Environment => {
  const obstacles = loadObstacles(profile);
  if (obstacles.length > 0) throw new ConfigurationError(obstacles);
  const { caFile } = profile.network ?? {};
  return caFile === undefined ? environment : { ...environment, SSL_CERT_FILE: caFile };
};
