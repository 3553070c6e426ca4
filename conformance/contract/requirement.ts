/** The parts of the document that group requirements, in the order of reports. */
export const groups = [
  "authorize",
  "code",
  "exchange",
  "refresh",
  "access",
  "notifications",
  "push",
  "whole",
  "untestable",
] as const;
export type Group = (typeof groups)[number];

interface Common {
  /** Sections of the service's document that the requirement comes from. */
  readonly sections: readonly string[];
  /** What must hold (or what is observed), in one sentence. */
  readonly sentence: string;
  /** How the harness judges it, in one or two sentences. */
  readonly judged: string;
  /** The ways to read an ambiguous sentence, by name. */
  readonly readings?: Readonly<Record<string, string>>;
}

/**
 * One checkable promise of the document. The level decides what a breach means: `required` and `derived` fail the gate,
 * `advisory` warns, `unspecified` is only observed, `untestable` is listed with its reason.
 */
export type WrittenRequirement =
  | (Common & { readonly level: "required" })
  | (Common & {
      readonly level: "derived";
      /** Why it follows from the document. */ readonly derivation: string;
    })
  | (Common & { readonly level: "advisory"; /** The clause of a public standard. */ readonly clause: string })
  | (Common & { readonly level: "unspecified" })
  | (Common & { readonly level: "untestable"; readonly reason: string });

/** A requirement with the group of its file. */
export type Requirement = WrittenRequirement & { readonly group: Group };

export type Level = Requirement["level"];
export const levels = [
  "required",
  "derived",
  "advisory",
  "unspecified",
  "untestable",
] as const satisfies readonly Level[];
