import { cpSync } from "node:fs";
import path from "node:path";
import { ended, run } from "../../conformance/testing/installed.ts";
import { installedOnce, pythonWith } from "../installed-once.ts";
import type { Programs, Queue } from "./queues.ts";

const here = import.meta.dirname;

/** The sources are copied to where their packages are installed, so that Node finds these. */
const node = async (cache: string, { name }: Queue): Promise<Programs> => {
  const folder = await installedOnce(
    path.join(cache, "node"),
    path.join(here, "node/package.json"),
    async (place) => {
      cpSync(path.join(here, "node/package.json"), path.join(place, "package.json"));
      const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
      await run("nice", ["-n", "5", "npm", "install", ...flags], { cwd: place });
    },
  );
  cpSync(path.join(here, "node"), folder, { recursive: true });
  return { command: [process.execPath, path.join(folder, "run.mjs"), name] };
};

const python = async (cache: string, { name }: Queue): Promise<Programs> => {
  const cwd = path.join(here, "python");
  return { command: [await pythonWith(cache, cwd), "-B", "run.py", name], cwd };
};

/** Go builds again only what has changed. */
const go = async (cache: string, { name }: Queue): Promise<Programs> => {
  const program = path.join(cache, name);
  await run("nice", ["-n", "5", "go", "build", "-o", program, "."], { cwd: path.join(here, "go") });
  return { command: [program] };
};

const java = async (cache: string): Promise<Programs> => {
  const folder = await installedOnce(
    path.join(cache, "java"),
    path.join(here, "java/src/main/java/Main.java"),
    async (place) => {
      cpSync(path.join(here, "java"), place, { recursive: true });
      await run("nice", ["-n", "5", "mvn", "-q", "-B", "package"], { cwd: place });
    },
  );
  const target = path.join(folder, "target");
  const options = ["-Xmx256m", "-XX:+UseSerialGC", "-cp", `${target}/classes:${target}/dependency/*`];
  return { command: ["java", ...options, "Main"] };
};

const installers = { Node: node, Python: python, Go: go, Java: java } as const;

const tools = { Node: [], Python: ["python3"], Go: ["go"], Java: ["java", "mvn"] } as const;
const stores = { redis: "redis-server", PostgreSQL: "postgres" } as const;

/** Programs that the queue needs and this machine lacks. */
export const lacks = async ({ language, store }: Queue): Promise<readonly string[]> => {
  const needed: readonly string[] = [...tools[language], stores[store]];
  const found = await Promise.all(
    needed.map(async (tool) => (await ended("sh", ["-c", `command -v ${tool}`], {})).code === 0),
  );
  return needed.filter((_, index) => found[index] !== true);
};

/** The programs of the queue, installed or built. Not two at a time for one language. */
export const install = (cache: string, queue: Queue): Promise<Programs> =>
  installers[queue.language](cache, queue);
