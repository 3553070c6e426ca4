import { homedir } from "node:os";
import path from "node:path";

/** Touchstone's folder among the user's own, by the XDG base directory specification, which ignores relative paths. */
export const userFolder = (
  environment: Readonly<Record<string, string | undefined>>,
  variable: "XDG_STATE_HOME" | "XDG_CACHE_HOME",
): string => {
  const given = environment[variable];
  const usual = variable === "XDG_STATE_HOME" ? path.join(".local", "state") : ".cache";
  const base =
    given !== undefined && path.isAbsolute(given)
      ? given
      : path.join(environment["HOME"] ?? homedir(), usual);
  return path.join(base, "touchstone");
};
