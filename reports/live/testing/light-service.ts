import { execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";

const SECRET = "secret-of-the-light-service";

export interface LightService extends Disposable {
  /** Path of the profile that names the service. */
  readonly profile: string;
}

/** Builds service.go and starts it on loopback, writing its profile into the folder. Needs Go. */
export const startLightService = async (folder: string): Promise<LightService> => {
  const program = path.join(folder, "service");
  execFileSync("go", ["build", "-o", program, path.join(import.meta.dirname, "service.go")], {
    env: { ...process.env, CGO_ENABLED: "0" },
  });
  const service = spawn(program, [SECRET], { stdio: ["ignore", "pipe", "inherit"] });
  const baseUrl = await new Promise<string>((resolve, reject) => {
    service.once("error", reject);
    service.once("exit", (code) => reject(new Error(`the service ended with exit code ${code}`)));
    service.stdout.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()));
  });
  writeFileSync(path.join(folder, "secret"), SECRET, { mode: 0o600 });
  const profile = path.join(folder, "light.json");
  const client = {
    id: "light",
    redirectUri: "https://client.example/callback",
    secret: { file: "secret" },
  };
  writeFileSync(profile, JSON.stringify({ baseUrl, clients: [client] }));
  return { profile, [Symbol.dispose]: () => void service.kill() };
};
