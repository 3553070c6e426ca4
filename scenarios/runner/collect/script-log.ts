import type { ScriptMessage } from "../../protocol.ts";
import type { LogLine } from "../k6/log.ts";

export interface ScriptLog {
  readonly troubles: readonly string[];
  /** Iterations in which the script threw an exception, and the first of them: mistakes of the script, not of the service. */
  readonly exceptions: { readonly count: number; readonly first: readonly string[] };
}

/** Only the first complaints of a script are of use. */
const MOST_TROUBLES = 20;
const MOST_EXCEPTIONS = 5;

export interface ScriptLogOptions {
  readonly mask: (text: string) => string;
  /** Takes a masked line for the record. */
  readonly write: (line: string) => void;
  readonly onSetUp: (message: Extract<ScriptMessage, { kind: "set-up" }>) => void;
  readonly onBreach: (message: Extract<ScriptMessage, { kind: "breach" }>) => void;
}

export const createScriptLog = ({ mask, write, onBreach, onSetUp }: ScriptLogOptions) => {
  const troubles: string[] = [];
  const exceptions: { count: number; readonly first: string[] } = { count: 0, first: [] };
  const take = (line: LogLine): void => {
    if (line.kind === "words") return write(`${line.level}: ${mask(line.text)}`);
    if (line.kind === "exception") {
      exceptions.count += 1;
      if (exceptions.count > MOST_EXCEPTIONS) return;
      exceptions.first.push(mask(line.text));
      return write(`exception: ${mask(line.text)}`);
    }
    const { message } = line;
    if (message.kind === "breach") onBreach(message);
    else if (message.kind === "set-up") onSetUp(message);
    else if (troubles.length < MOST_TROUBLES && !troubles.includes(message.what))
      troubles.push(mask(message.what));
  };
  return { take, log: { troubles, exceptions } satisfies ScriptLog };
};
