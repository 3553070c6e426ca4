import type { CiSuite } from "./case.ts";
import { problemsOf } from "./problems.ts";
import { plural } from "../text/figures.ts";

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
