import type { CiCase, CiSuite } from "./case.ts";

export interface CiProblem {
  readonly title: string;
  readonly message: string;
  readonly kind: "failed" | "error" | "incomplete";
  /** Stable: the same problem has the same id in later runs. */
  readonly id: string;
}

export const problemsOf = (suites: readonly CiSuite[]): readonly CiProblem[] => [
  ...suites.flatMap(({ name, cases }) =>
    cases.flatMap((one): readonly CiProblem[] =>
      one.status === "failed" || one.status === "error"
        ? [
            {
              title: titleOf(one),
              message: one.details ?? one.message ?? one.verdict,
              kind: one.status,
              id: `${name} ${one.name}`,
            },
          ]
        : [],
    ),
  ),
  ...suites.flatMap(({ name, incomplete }): readonly CiProblem[] =>
    incomplete === undefined
      ? []
      : [
          {
            title: `Touchstone ${name} is not complete`,
            message: incomplete,
            kind: "incomplete",
            id: `${name} is not complete`,
          },
        ],
  ),
];

const titleOf = ({ name, group, status, verdict }: CiCase): string => {
  if (status === "error") return `Touchstone failed at ${name}`;
  if (group === "load") return "The load failed";
  return verdict === "drifted" ? `${name} changed` : `${name} is broken`;
};
