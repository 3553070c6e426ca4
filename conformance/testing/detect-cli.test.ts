import { expect, it } from "vitest";
import { variants } from "../../fake-server/index.ts";
import { startCli } from "./start-cli.ts";

/** Resolves once a process of a detection says what it judges. */
const hasBegun = async (said: () => { readonly stderr: string }): Promise<void> => {
  while (!/^ {2}\S/m.test(said().stderr)) await new Promise((resolve) => setTimeout(resolve, 20));
};

/* The output is closed once no process holds it, so it tells that all of them have ended. */
it.each([
  ["SIGINT", 130],
  ["SIGKILL", null],
] as const)("a detection that gets %s leaves no process that goes on judging", async (signal, code) => {
  const names = Object.keys(variants);
  const { said, stop, closed } = startCli([
    "detect",
    "--jobs",
    "2",
    "--seed",
    "1",
    "--behaviour",
    names.join(","),
  ]);
  await hasBegun(said);
  expect((await stop(signal)).code).toBe(code);
  await closed;
  expect(said().stderr.match(/^ {2}\S/gm)?.length).toBeLessThan(names.length / 2);
});
