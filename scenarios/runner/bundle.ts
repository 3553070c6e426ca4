import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** A checkout runs this source file; the package runs a bundle next to the built scripts. */
const isCheckout = import.meta.url.endsWith(".ts");

/**
 * The file that k6 runs: one module with all scenarios and their imports except k6's own, because k6 resolves no
 * packages. In a checkout it is bundled into `folder`, which must exist; the package includes it prebuilt.
 */
export const scriptFor = async (folder: string): Promise<string> => {
  if (!isCheckout) return fileURLToPath(new URL("scenarios/main.js", import.meta.url));
  const file = path.join(folder, "main.js");
  await writeFile(file, await bundle());
  return file;
};

const bundle = async (): Promise<string> => {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../main.ts", import.meta.url))],
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
