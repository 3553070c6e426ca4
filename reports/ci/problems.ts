import { createHash } from "node:crypto";
import path from "node:path";
import { jsonFile } from "../../conformance/contract/harmless-text.ts";
import type { CiSuite, CiCase } from "./cases.ts";
import { plural } from "../text/figures.ts";

interface CiProblem {
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
  if (group === "objectives") return `${name} is missed`;
  if (group === "waivers") return `${name} is out of date`;
  return verdict === "drifted" ? `${name} changed` : `${name} is broken`;
};

type Form = (title: string, message: string) => string;

/** `::error title=...::...`, as GitHub, Gitea and Forgejo read it. */
const workflowCommand: Form = (title, message) =>
  `::error title=${percent(title, /[%\r\n:,]/g)}::${percent(message, /[%\r\n]/g)}`;

/** `##vso[task.logissue type=error]...`, as Azure Pipelines reads it; it escapes the percent sign differently. */
const loggingCommand: Form = (title, message) =>
  `##vso[task.logissue type=error]${`${title}: ${message}`.replace(/[%\r\n;\]]/g, (one) => (one === "%" ? "%AZP25" : escape(one)))}`;

/** `##teamcity[buildProblem ...]`, as TeamCity reads it. */
const serviceMessage: Form = (title, message) =>
  `##teamcity[buildProblem description='${`${title}: ${message}`.replace(/['|[\]\r\n]/g, (one) => teamcity[one] ?? `|${one}`)}']`;

const teamcity: Readonly<Record<string, string>> = { "\r": "|r", "\n": "|n" };

const escape = (one: string): string =>
  `%${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, "0")}`;
const percent = (text: string, what: RegExp): string => text.replace(what, escape);

const formOf = (environment: Readonly<Record<string, string | undefined>>): Form | undefined => {
  if (environment["GITHUB_ACTIONS"] === "true") return workflowCommand;
  if (environment["TF_BUILD"]?.toLowerCase() === "true") return loggingCommand;
  return environment["TEAMCITY_VERSION"] === undefined ? undefined : serviceMessage;
};

/** About the number of annotations that CI services show for a step. */
const MOST = 10;

/**
 * Lines on standard output that make a CI service mark failures. Empty if nothing failed, or if the service reads no
 * such lines (GitLab and Jenkins show the JUnit report instead).
 */
export const annotationsOf = (
  suites: readonly CiSuite[],
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] => {
  const form = formOf(environment);
  if (form === undefined) return [];
  const problems = problemsOf(suites);
  const shown = problems.length <= MOST ? problems : problems.slice(0, MOST - 1);
  const lines = shown.map(({ title, message }) => form(title, message));
  if (shown.length === problems.length) return lines;
  const more = `${plural(problems.length - shown.length, "further problem")}; see the report for all`;
  return [...lines, form("Touchstone", more)];
};

const severities: Readonly<Record<CiProblem["kind"], string>> = {
  failed: "critical",
  error: "blocker",
  incomplete: "info",
};

/** A breach has no line in the repository: it is reported at the profile, or without one at the job that found it. */
const JOB_FILE = ".gitlab-ci.yml";

/**
 * Runs as GitLab's code quality report: the failures, with fingerprints that are stable between runs, so that a merge
 * request shows what it breaks and fixes. `root` is the repository's folder.
 */
export const renderCodeQuality = (
  suites: readonly CiSuite[],
  { profile, root }: { readonly profile: string | undefined; readonly root?: string | undefined },
): string => {
  const location = { path: placeOf(profile, root), lines: { begin: 1 } };
  const issues = problemsOf(suites).map(({ title, message, kind, id }) => ({
    description: `${title}: ${message.split("\n")[0]}`,
    check_name: id,
    fingerprint: createHash("sha256").update(id).digest("hex"),
    severity: severities[kind],
    location,
  }));
  return jsonFile(issues);
};

const placeOf = (profile: string | undefined, root: string | undefined): string => {
  if (profile === undefined || root === undefined) return JOB_FILE;
  const relative = path.relative(root, profile);
  return relative.startsWith("..") || path.isAbsolute(relative) ? JOB_FILE : relative;
};
