/** What one case came to. */
export type Judgement =
  | { readonly kind: "held" }
  | {
      readonly kind: "broke";
      readonly expected: string;
      readonly actual: string;
      /** Numbers of the exchanges that show it, where most of the case's have no part in it; all of them where left out. */
      readonly shownBy?: readonly number[];
    }
  | { readonly kind: "undecided"; readonly reason: string }
  | { readonly kind: "set-aside"; readonly reason: string };

/** The promise was kept in this case. */
export const held: Judgement = { kind: "held" };

/** The promise was broken: what it demands, and what was seen instead. Both are sentences without credentials. */
export const broke = (expected: string, actual: string, shownBy?: readonly number[]): Judgement => ({
  kind: "broke",
  expected,
  actual,
  ...(shownBy === undefined ? {} : { shownBy }),
});

/** The case says nothing, and why. */
export const undecided = (reason: string): Judgement => ({ kind: "undecided", reason });

/** The case turned out to ask nothing (a probe that fell into the guard around a boundary). It is neither counted nor held against the rule. */
export const setAside = (reason: string): Judgement => ({ kind: "set-aside", reason });

/** `held` where the condition is true, otherwise broken as described. */
export const expectThat = (
  condition: boolean,
  expected: string,
  actual: string | (() => string),
): Judgement => (condition ? held : broke(expected, typeof actual === "string" ? actual : actual()));

/** The first judgement of the gravest kind: a breach before anything undecided, and that before what was set aside. */
export const allHold = (judgements: readonly Judgement[]): Judgement =>
  judgements.find(({ kind }) => kind === "broke") ??
  judgements.find(({ kind }) => kind === "undecided") ??
  judgements.find(({ kind }) => kind !== "held") ??
  held;
