import { createSecrets, type Secrets } from "../../conformance/contract/secrets.ts";
import { concealResolved } from "../../conformance/known-secrets.ts";
import type { ResolvedProfile } from "../../conformance/profile.ts";
import type { Page } from "../../reports/terminal/palette.ts";

/** How a command was asked to talk. */
export interface Manner {
  readonly quiet: boolean;
  readonly json: boolean;
  readonly colour: boolean;
}

/** All that a command prints. Nothing that is secret gets through. */
export interface Output {
  readonly manner: () => Manner;
  /** The result, on standard output. */
  readonly print: (text: string) => void;
  /** The result as one JSON document. */
  readonly printJson: (value: unknown) => void;
  /** Progress and hints, on standard error; nothing where the command is to be quiet. */
  readonly say: (text: string) => void;
  /** Errors, on standard error. */
  readonly complain: (text: string) => void;
  /** How reports on the terminal are to be drawn. */
  readonly page: () => Promise<Page>;
  /** Every credential that the command meets: errors, which may quote anything, show none of them. */
  readonly secrets: Secrets;
  /** Makes a profile's secrets known, and returns the profile. */
  readonly knowing: (resolved: ResolvedProfile) => ResolvedProfile;
}

/** Standard output and standard error, in the manner that is asked for once the flags have been read. */
export const createOutput = (manner: () => Manner): Output => {
  // What lasts is masked wherever it stands; codes and tokens of a result carry labels already.
  const lasting = createSecrets();
  const met = createSecrets();
  const print = (text: string): void => void process.stdout.write(ended(lasting.mask(text)));
  return {
    manner,
    print,
    printJson: (value) => print(JSON.stringify(value, undefined, 2)),
    say: (text) => void (manner().quiet || process.stderr.write(ended(lasting.mask(text)))),
    complain: (text) => void process.stderr.write(ended(met.mask(text))),
    page: async () => {
      const { default: colors } = await import("picocolors");
      const { colour, json } = manner();
      return { palette: colors.createColors(colour && !json), columns: process.stdout.columns ?? 100 };
    },
    secrets: met,
    knowing: (resolved) => {
      for (const secrets of [lasting, met]) concealResolved(secrets, resolved);
      return resolved;
    },
  };
};

const ended = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);
