import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { mutated, type Mutation } from "./mutate.ts";

/** Loaded by `node --import`: applies the mutation in the environment to its file as the file is loaded. */
const { file, ...mutation } = JSON.parse(process.env["TOUCHSTONE_MUTANT"] ?? "{}") as Mutation & {
  file?: string;
};
registerHooks({
  load: (url, context, next) =>
    url.startsWith("file:") && fileURLToPath(url) === file
      ? {
          format: "module-typescript",
          source: mutated(readFileSync(file, "utf8"), mutation),
          shortCircuit: true,
        }
      : next(url, context),
});
