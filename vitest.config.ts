import path from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./conformance/testing/longest-first.ts";

/** Two projects: the tests of Touchstone itself, and the rules as tests against a service of the user's. */
export default defineConfig({
  test: {
    // Of two cores Vitest leaves one free by itself; and as many workers as cores leave half of both, since many tests
    // wait for a clock or a process. Two cores at rest took 221 s with six workers, 223 s with five, 231 s with eight.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          include: ["{commands,conformance,deploy,fake-server,reports,scenarios}/**/*.test.ts", "*.test.ts"],
          exclude: ["conformance/engine/suite.test.ts"],
          globalSetup: "scenarios/runner/testing/k6-early.ts",
          // Tests start the command line more than a hundred times: what one process compiled serves all after it.
          env: { NODE_COMPILE_CACHE: path.join(import.meta.dirname, "node_modules/.cache/compiled") },
          // Node itself loads the sources, as it does for users: no test replaces a module, which Vite would be needed for.
          experimental: { viteModuleRunner: false, nodeLoader: false },
          // Files of one worker share their modules: loading all of them again for each file costs a third of the whole.
          isolate: false,
          // Hundreds of gates in one process leave much garbage soon after they made it: room for it saves a tenth of their processor time.
          execArgv: ["--max-semi-space-size=64"],
          // No limit is what a test is about: these end what hangs.
          testTimeout: 600_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 120_000 } },
        },
      },
      {
        test: {
          name: "conformance",
          include: ["conformance/engine/suite.test.ts"],
          testTimeout: 3_600_000,
          hookTimeout: 3_600_000,
        },
      },
    ],
  },
});
