import { isObject, parseJson } from "../../../conformance/contract/json.ts";
import { logMark, type ScriptMessage } from "../../protocol.ts";

/** A line of k6's log: a message of a script, or k6's own text. */
export type LogLine =
  | { readonly kind: "message"; readonly message: ScriptMessage }
  /** An iteration threw an exception, which ends the iteration but not the run. */
  | { readonly kind: "exception"; readonly text: string }
  | { readonly kind: "words"; readonly level: string; readonly text: string };

/** Parses a line written by k6 with `--log-format json`. Any other line counts as an error text. */
export const readLogLine = (line: string): LogLine => {
  const entry = parseJson(line);
  if (!isObject(entry) || typeof entry["msg"] !== "string")
    return { kind: "words", level: "error", text: line };
  const level = typeof entry["level"] === "string" ? entry["level"] : "error";
  const { msg } = entry;
  if (msg.startsWith(logMark)) {
    const message = parseJson(msg.slice(logMark.length));
    if (isMessage(message)) return { kind: "message", message };
  }
  if (entry["source"] === "stacktrace") return { kind: "exception", text: msg.trim() };
  const error = typeof entry["error"] === "string" ? `: ${entry["error"]}` : "";
  return { kind: "words", level, text: `${msg}${error}` };
};

/** Written by our own scripts, so their kind identifies them. */
const isMessage = (value: unknown): value is ScriptMessage =>
  isObject(value) && ["breach", "trouble", "set-up"].includes(String(value["kind"]));
