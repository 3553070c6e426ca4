import { readFileSync, writeFileSync } from "node:fs";
import { startCli } from "../conformance/testing/start-cli.ts";

/** Starts `serve` in a process of its own, which writes a profile that judges it into this file. */
export const startServed = async (profile: string, parameters: readonly string[]) => {
  const asked = ["--port", "0", "--control-port", "0", "--write-profile", profile, "--json"];
  const { document, stop } = startCli(["serve", ...asked, ...parameters]);
  const { baseUrl, controlUrl } = (await document()) as Readonly<Record<"baseUrl" | "controlUrl", string>>;
  return {
    baseUrl,
    controlUrl,
    /** Has the profile reach the service and its hooks by what stands in front of them. */
    reachBy: (front: { readonly service?: string; readonly hooks: string }): void => {
      const { service = baseUrl, hooks } = front;
      const written = readFileSync(profile, "utf8");
      writeFileSync(profile, written.replaceAll(baseUrl, service).replaceAll(controlUrl, hooks));
    },
    [Symbol.asyncDispose]: async (): Promise<void> => void (await stop()),
  };
};
export type Served = Awaited<ReturnType<typeof startServed>>;
