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

/**
 * Names of the defects outside pushes, by the requirement they break. Schemathesis sends requests but receives none, so
 * pushes would never happen.
 */
const byRequirement = (): ReadonlyMap<string, readonly string[]> => {
  const outside = requirementIds.filter((id) => catalogue[id].group !== "push");
  const named = Map.groupBy(Object.keys(defects), (name) => defects[name]?.breaks[0] ?? "");
  return new Map(outside.map((id) => [id, named.get(id) ?? []]));
};

/** One defect per requirement, drawn with a fixed seed. */
const sample = (): readonly string[] => {
  const random = seededRandom(1);
  return [...byRequirement().values()].flatMap((named) => {
    const drawn = named[Math.floor(random() * named.length)];
    return drawn === undefined ? [] : [drawn];
  });
};

const summary = ({ failures, errors, cases }: Outcome): string =>
  `${failures.length === 0 ? "nothing" : failures.join(", ")}; ${cases} requests${errors === 0 ? "" : `, ${errors} errors`}`;

/** Part K of N, from TOUCHSTONE_BENCH_PART=K/N: all defects in one go take an hour. */
const part = (asked: string): readonly string[] => {
  const [, k = "1", n = "1"] = /^(\d+)\/(\d+)$/.exec(asked) ?? [];
  return [...byRequirement().values()].flat().filter((_, at) => at % Number(n) === Number(k) - 1);
};

/** Schemathesis with our OpenAPI document on seeded defects, compared with Touchstone on the same ones. */
const besides = async (programs: string, names: readonly string[]): Promise<void> => {
  const startedMs = performance.now();
  const found: string[] = [];
  for (const name of names) {
    const outcome = await schemathesis(programs, name);
    if (outcome.failures.length > 0) found.push(name);
    figure(`  ${name} (${defects[name]?.breaks.join(", ")})`, summary(outcome), "some");
  }
  const elapsed = seconds(performance.now() - startedMs);
  figure("defects that Schemathesis finds", `${found.length} of ${names.length} in ${elapsed}`, "none");
  const flags = ["detect", "--json", "--seed", "1", "--behaviour", names.join(",")];
  const { stdout, wallMs } = await runCli(flags);
  const { defects: seen } = JSON.parse(stdout) as DetectReport;
  const killed = `${seen.killed} of ${seen.total} in ${seconds(wallMs)}`;
  figure("defects that Touchstone kills, under the rule that each breaks", killed, "all");
};

/** Runs on the sound fake and a sample of the seeded defects; with TOUCHSTONE_BENCH_PART, on a part of all defects. */
export const schemathesisBench = async (): Promise<void> => {
  const programs = await python();
  const asked = process.env["TOUCHSTONE_BENCH_PART"];
  if (asked !== undefined) return besides(programs, part(asked));
  figure("openapi-spec-validator", await specValidatorSays(programs, openApiDocument("0")), "OK");
  for (const kind of ["published", "narrowed"] as const)
    figure(
      `Schemathesis ${schemathesisVersion} on the sound fake, ${kind} document`,
      summary(await schemathesis(programs, "sound", kind)),
      "nothing",
    );
  await besides(programs, sample());
};
