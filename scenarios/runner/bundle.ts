import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { ScenarioName } from "../../conformance/contract/load-shape.ts";

/** A checkout runs this source file; the package runs a bundle that has the built scripts beside it. */
const isCheckout = import.meta.url.endsWith(".ts");

/**
 * The file that k6 runs for a scenario: one module with everything in it but k6's own, because k6
 * resolves no packages. In a checkout it is bundled into `folder`, which has to exist; the package
 * brings it ready.
 */
export const scriptFor = async (scenario: ScenarioName, folder: string): Promise<string> => {
  if (!isCheckout) return fileURLToPath(new URL(`scenarios/${scenario}.js`, import.meta.url));
  const file = path.join(folder, `${scenario}.js`);
  await writeFile(file, await bundle(scenario));
  return file;
};

const bundle = async (scenario: ScenarioName): Promise<string> => {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../${scenario}.ts`, import.meta.url))],
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    external: ["k6", "k6/*"],
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
};
