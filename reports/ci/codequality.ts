import { createHash } from "node:crypto";
import path from "node:path";
import { jsonFile } from "../../conformance/contract/harmless-text.ts";
import type { CiSuite } from "./case.ts";
import { problemsOf, type CiProblem } from "./problems.ts";

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
