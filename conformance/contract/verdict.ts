/** How anyone can see a failure again. */
export interface Reproduction {
  /** Seed of the run; together with the rule's id it fixes every generated value. */
  readonly seed: number;
  /** fast-check's path to the shrunk counterexample, where a property failed. */
  readonly path?: string;
  /** The input that shows the failure, printed. */
  readonly counterexample?: string;
  /** How often the failure came back when it was tried again before being reported. */
  readonly replayed: { readonly failures: number; readonly attempts: number };
}

/** A breach as data: what was promised, what was seen, and the exchanges that show it. */
export interface Breach {
  readonly expected: string;
  readonly actual: string;
  /** Numbers of the exchanges in exchanges.jsonl, in order: the shortest history that shows the breach. */
  readonly evidence: readonly number[];
  readonly reproduction: Reproduction;
  /** Name of the part of the rule that failed, where a rule has several. */
  readonly part?: string;
}

/** What a rule measured on its way: a lifetime's bracket, the readings that remain, counts. */
export type Facts = Readonly<Record<string, unknown>>;

interface Judged {
  /** How many cases were really judged: decisive ones, whose control held. */
  readonly cases: number;
  readonly facts?: Facts;
}

/**
 * What a rule came to. Only `passed` counts as passed; "the harness could not" is
 * never "the service failed".
 */
export type Verdict =
  | ({ readonly kind: "passed" } & Judged)
  | ({ readonly kind: "failed"; readonly breach: Breach } & Judged)
  | ({ readonly kind: "warned"; readonly breach: Breach } & Judged)
  | ({ readonly kind: "observed"; /** Canonical JSON. */ readonly fingerprint: string } & Judged)
  | { readonly kind: "pending"; readonly due: string; readonly reason: string }
  | {
      readonly kind: "not-applicable";
      /** Who says so: the profile, or the service by the way in which it conforms. */
      readonly by: "profile" | "service";
      readonly reason: string;
    }
  | { readonly kind: "could-not-run"; readonly missing: string; readonly reason: string }
  | {
      readonly kind: "inconclusive";
      readonly reason: string;
      readonly settle: string;
      readonly cases: number;
      readonly facts?: Facts;
    }
  | { readonly kind: "harness-error"; readonly message: string; readonly stack?: string };

export type VerdictKind = Verdict["kind"];

export type Breached = Extract<Verdict, { readonly breach: Breach }>;

export const isBreach = (verdict: Verdict): verdict is Breached => "breach" in verdict;

export const casesOf = (verdict: Verdict): number => ("cases" in verdict ? verdict.cases : 0);

/** JSON with sorted keys: the same facts always give the same bytes. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sortKeys(value)) ?? "null";

const sortKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  );
};
