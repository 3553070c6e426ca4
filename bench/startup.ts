import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { figure, root } from "../conformance/testing/measure.ts";

const ROUNDS = 15;

const quick = [["--help"], ["conform", "--help"], ["conform", "--bogus"], ["load", "--rate", "x"]];
const calls = [...quick, ["rules"], ["conform", "--profile", "nowhere.json"]];

/** How fast the package and the sources answer, compared with starting Node twice on this machine. */
export const startup = async (): Promise<void> => {
  execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "ignore" });
  const timed = (parameters: readonly string[]): number => {
    const startedMs = performance.now();
    spawnSync(process.execPath, parameters, { cwd: root, stdio: "ignore" });
    return performance.now() - startedMs;
  };
  const asked = [
    ["-e", "0"],
    ...["dist/cli.js", "cli.ts"].flatMap((file) => calls.map((call) => [path.join(root, file), ...call])),
  ];
  // In turns, so that other load on this machine slows all of them equally.
  const rounds = Array.from({ length: ROUNDS }, () => asked.map(timed));
  const medians = asked.map(
    (_, at) => rounds.map((round) => round[at] ?? 0).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0,
  );
  const twice = `${(2 * (medians[0] ?? 0)).toFixed(0)} ms (Node, twice)`;
  for (const [at, [file = "", ...parameters]] of asked.entries()) {
    const isQuick = quick.some((one) => one.join(" ") === parameters.join(" "));
    figure(
      at === 0 ? "node" : [path.relative(root, file), ...parameters].join(" "),
      `${(medians[at] ?? 0).toFixed(0)} ms`,
      isQuick ? twice : "none",
    );
  }
};
