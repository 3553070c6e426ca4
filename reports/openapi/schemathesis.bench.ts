import { catalogue, requirementIds } from "../../conformance/contract/catalogue.ts";
import type { DetectReport } from "../../conformance/contract/detect.ts";
import { seededRandom } from "../../conformance/contract/random.ts";
import { figure, runCli, seconds } from "../../conformance/testing/measure.ts";
import { defects } from "../../fake-server/index.ts";
import { openApiDocument } from "./document.ts";
import {
  python,
  schemathesis,
  schemathesisVersion,
  specValidatorSays,
  type Outcome,
} from "./testing/schemathesis.ts";

/** One defect of each requirement, drawn by this seed. */
const SEED = 1;

/**
 * A defect for each requirement that has one, apart from pushes: Schemathesis sends requests and receives none, so
 * that no push would ever be made.
 */
const sample = (): readonly string[] => {
  const random = seededRandom(SEED);
  return requirementIds
    .filter((id) => catalogue[id].group !== "push")
    .flatMap((id) => {
      const named = Object.keys(defects).filter((name) => defects[name]?.breaks[0] === id);
      const drawn = named[Math.floor(random() * named.length)];
      return drawn === undefined ? [] : [drawn];
    });
};

const summary = ({ failures, errors, cases }: Outcome): string =>
  `${failures.length === 0 ? "nothing" : failures.join(", ")}; ${cases} requests${errors === 0 ? "" : `, ${errors} errors`}`;

/** The part of a sample that TOUCHSTONE_BENCH_PART=K/N asks for; all of it without. */
const part = (names: readonly string[]): readonly string[] => {
  const [, k = "1", n = "1"] = /^(\d+)\/(\d+)$/.exec(process.env["TOUCHSTONE_BENCH_PART"] ?? "") ?? [];
  return names.filter((_, at) => at % Number(n) === Number(k) - 1);
};

/** Schemathesis with our OpenAPI document on the sound fake, and on a sample of the seeded defects beside Touchstone. */
export const schemathesisBench = async (): Promise<void> => {
  const programs = await python();
  figure("openapi-spec-validator", await specValidatorSays(programs, openApiDocument("0")), "OK");
  for (const kind of ["published", "narrowed"] as const)
    figure(
      `Schemathesis ${schemathesisVersion} on the sound fake, ${kind} document`,
      summary(await schemathesis(programs, "sound", kind)),
      "nothing",
    );
  const names = part(sample());
  const startedMs = performance.now();
  const found: string[] = [];
  for (const name of names) {
    const outcome = await schemathesis(programs, name);
    if (outcome.failures.length > 0) found.push(name);
    figure(`  ${name} (${defects[name]?.breaks.join(", ")})`, summary(outcome), "some");
  }
  const elapsed = seconds(performance.now() - startedMs);
  figure("defects that Schemathesis finds", `${found.length} of ${names.length} in ${elapsed}`, "none");
  const { stdout, wallMs } = await runCli([
    "detect",
    "--json",
    "--seed",
    "1",
    "--behaviour",
    names.join(","),
  ]);
  const { defects: seen } = JSON.parse(stdout) as DetectReport;
  figure(
    "defects that Touchstone kills, under the rule that each breaks",
    `${seen.killed} of ${seen.total} in ${seconds(wallMs)}`,
    "all",
  );
};
