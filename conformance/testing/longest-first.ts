import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest. Without an earlier run, as in CI, Vitest goes by file size, and small files that play
 * whole runs would start last, with one worker waiting for the other.
 */
export const longest: readonly string[] = [
  "conformance/pushes/unawaited.test.ts",
  "conformance/rules/breaches.test.ts",
  "conformance/rules/push.test.ts",
  "scenarios/runner/segments-command.test.ts",
  "scenarios/runner/load-detection.test.ts",
  "conformance/engine/real-time.test.ts",
  "conformance/session/preflight.test.ts",
  "conformance/rules/notification-visibility.test.ts",
  "conformance/testing/cli.test.ts",
  "conformance/rules/controls.test.ts",
  "fake-server/receiver/attached.test.ts",
  "scenarios/runner/load-command.test.ts",
  "conformance/engine/unreliable-network.test.ts",
  "scenarios/runner/breakpoint.test.ts",
  "conformance/lifetimes/lifetime.test.ts",
  "conformance/testing/reliability/planted.test.ts",
  "conformance/engine/push-runs.test.ts",
  "conformance/rules/empty-lists.test.ts",
  "reports/html/browser.test.ts",
  "scenarios/runner/scripts.test.ts",
  "conformance/testing/reliability/killed.test.ts",
  "conformance/rules/push-accounts.test.ts",
  "scenarios/runner/duet-command.test.ts",
  "conformance/testing/pages/pages.test.ts",
  "conformance/rules/lifecycle.test.ts",
  "conformance/world/hooks/hook-caller.test.ts",
  "conformance/testing/detect-cli.test.ts",
  "conformance/testing/package.test.ts",
];

/** Files of other projects stay first: one in between would end the workers that share modules. */
const rankOf = ({ moduleId, project }: TestSpecification): number => {
  if (project.name !== "unit") return -1;
  const rank = longest.findIndex((file) => moduleId.endsWith(`/${file}`));
  return rank === -1 ? longest.length : rank;
};

/** The longest files first; the rest in Vitest's order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own method: it gives a new array.
    const usual = await super.sort(files);
    return usual.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
