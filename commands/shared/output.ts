import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { harmlessColoured, harmlessJson, harmlessLines } from "../../conformance/contract/harmless-text.ts";
import { createSecrets, type Secrets } from "../../conformance/contract/secrets.ts";
import colors from "picocolors";
import type { Page } from "../../reports/terminal/palette.ts";

export interface Manner {
  readonly quiet: boolean;
  readonly json: boolean;
  readonly colour: boolean;
}

/** All that a command prints. No secret gets through, and nothing that acts on a terminal but the program's own colours. */
export interface Output {
  readonly manner: () => Manner;
  /** The result, on standard output. */
  readonly print: (text: string) => void;
  readonly printJson: (value: unknown) => void;
  /** Progress and hints, on standard error; nothing where the command is to be quiet. */
  readonly say: (text: string) => void;
  /** Errors, on standard error. */
  readonly complain: (text: string) => void;
  /** Where live lines go, which are rewritten in place on a terminal. */
  readonly live: Streams["stderr"];
  readonly page: () => Page;
  /** Every credential that the command meets: errors, which may quote anything, show none of them. */
  readonly secrets: Secrets;
  readonly conceal: (tell: (secrets: Secrets) => void) => void;
}

/** Where text goes; `process` is one. */
export interface Streams {
  readonly stdout: Pick<NodeJS.WriteStream, "write" | "columns"> & { readonly isTTY?: boolean };
  readonly stderr: Pick<NodeJS.WriteStream, "write"> & {
    readonly isTTY?: boolean;
    readonly columns?: number;
  };
}

export const createOutput = (manner: () => Manner, { stdout, stderr }: Streams = process): Output => {
  // What lasts is masked wherever it stands; codes and tokens of a result carry labels already.
  const lasting = createSecrets();
  const met = createSecrets();
  const shown = (text: string): string => {
    const { colour, json } = manner();
    return ended((colour && !json ? harmlessColoured : harmlessLines)(lasting.mask(text)));
  };
  return {
    manner,
    print: (text) => void stdout.write(shown(text)),
    printJson: (value) =>
      void stdout.write(ended(harmlessJson(lasting.mask(JSON.stringify(value, undefined, 2))))),
    say: (text) => void (manner().quiet || stderr.write(shown(text))),
    complain: (text) => void stderr.write(ended(harmlessLines(met.mask(text)))),
    live: stderr,
    page: () => {
      const { colour, json } = manner();
      return { palette: colors.createColors(colour && !json), columns: stdout.columns ?? 100 };
    },
    secrets: met,
    conceal: (tell) => {
      for (const secrets of [lasting, met]) tell(secrets);
    },
  };
};

const ended = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

/** Has the argument parser's own errors, which quote what was typed, go through the output as well. */
export const complainThrough = (output: Output, command: CommandUnknownOpts): void => {
  const takesProfile = command.options.some(({ long }) => long === "--profile");
  const hint = takesProfile ? "$& A profile is given with --profile." : "$&";
  const writeErr = (text: string): void =>
    output.complain(
      text
        .replace(/^error: too many arguments.*\.(?:json|m?[jt]s)\b.*$/m, hint)
        .replace(/^error: /, "touchstone: "),
    );
  command.configureOutput({ writeErr });
};
