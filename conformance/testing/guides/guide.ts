import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Running } from "../../../commands/program.ts";
import { startFakeServer } from "../../../fake-server/index.ts";
import { tool } from "../../record/tool.ts";
import { root } from "../measure.ts";
import { startHere } from "../run-here.ts";
import { freePort } from "../servers.ts";

/** How a fenced line is tested: played in each test, played only by `npm run bench -- guides`, or only parsed. */
export type Manner = "played" | "heavy" | "parsed";

export type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | {
      readonly kind: "line";
      readonly text: string;
      readonly manner: Manner;
      /** The exit code that the guide states; 0 if it states none. */
      readonly exitCode: number;
    };

const fence = /^```(\w+)(?: (\S+))?\n(.*?)^```$/gms;

/**
 * The steps of a guide: its files (fences with a name after the language) and the lines of its shell fences. `heavy` or
 * `parsed` after `sh` marks lines that are not played in each test; neither shows once rendered.
 */
export const stepsOf = (markdown: string): readonly Step[] =>
  [...markdown.matchAll(fence)].flatMap(([, language = "", more, text = ""]): readonly Step[] => {
    if (language === "sh") return linesOf(text, more === "heavy" || more === "parsed" ? more : "played");
    return more === undefined ? [] : [{ kind: "file", name: more, text }];
  });

const linesOf = (text: string, manner: Manner): readonly Step[] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, command = line, code = "0"] = /^(.*?)\s+# exit code (\d+)$/.exec(line) ?? [];
      return { kind: "line", text: command, manner, exitCode: Number(code) };
    });

/** A call of Touchstone in a CI file: in a shell line, by our action for GitHub or by our component for GitLab. */
export interface CiCall {
  readonly by: "shell" | "action" | "component";
  readonly command: string;
  /** Names of the given inputs; none for a shell line. */
  readonly inputs: readonly string[];
}

type Inputs = Readonly<Record<string, string>>;

const callOf = (by: CiCall["by"], inputs: Inputs): CiCall => ({
  by,
  command: `touchstone ${inputs["command"] ?? "run"} --profile ${inputs["profile"] ?? "none"} ${inputs["args"] ?? ""}`,
  inputs: Object.keys(inputs),
});

/** Every call in a parsed CI file. */
export const callsIn = (value: unknown): readonly CiCall[] => {
  if (typeof value === "string") {
    const [, command] = /^npx touchstone-harness (.*)$/.exec(value) ?? [];
    return command === undefined ? [] : [{ by: "shell", command: `touchstone ${command}`, inputs: [] }];
  }
  if (typeof value !== "object" || value === null) return [];
  const { uses, with: given, component, inputs } = value as Readonly<Record<string, unknown>>;
  if (typeof uses === "string" && !uses.startsWith("actions/")) return [callOf("action", given as Inputs)];
  if (typeof component === "string") return [callOf("component", inputs as Inputs)];
  return Object.values(value).flatMap(callsIn);
};

/** The words of a shell line without expansions, respecting quotes. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:"[^"]*"|[^\s"]+)+/g)].map(([word]) => word.replaceAll('"', ""));

/** The result of a line: what the guide says about it, and what was seen. */
interface Played {
  readonly line: string;
  readonly expected: number;
  readonly exitCode: number;
  readonly said: string;
}

/** The setting of a guide: the service that it mentions, and the ports of its receiver. */
interface Scene {
  readonly environment: Record<string, string | undefined>;
  readonly replaced: Readonly<Record<string, string>>;
  readonly inBackground: Running[];
}

const said = (text: string, { replaced }: Scene): string =>
  Object.entries(replaced).reduce((told, [from, to]) => told.replaceAll(from, to), text);

const LISTENING = "Press Ctrl-C to stop";

/** Plays a line to its end, or in the background until it has reported where it listens. */
const playLine = async (line: string, scene: Scene): Promise<Omit<Played, "line" | "expected">> => {
  const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? [];
  if (name !== undefined) {
    scene.environment[name] = value;
    return { exitCode: 0, said: "" };
  }
  const [program, ...parameters] = wordsOf(said(line, scene));
  if (program !== "touchstone") throw new Error(`only touchstone can be played, and this is: ${line}`);
  const isInBackground = parameters.at(-1) === "&";
  let heard = "";
  const listening = Promise.withResolvers<number>();
  const given = isInBackground ? parameters.slice(0, -1) : parameters;
  const running = startHere(given, scene.environment, (text) => {
    heard += text;
    if (isInBackground && heard.includes(LISTENING)) listening.resolve(0);
  });
  if (isInBackground) scene.inBackground.push(running);
  const ended = running.ended.then((code) => (isInBackground ? 1 : code));
  return { exitCode: await Promise.race([listening.promise, ended]), said: heard };
};

export const CLIENT = {
  id: "client-1",
  secret: "the-secret-of-client-1",
  redirectUri: "https://client.example/callback",
};

/**
 * Plays the lines of a guide with the given manners, one after another, in an empty folder. The embedded fake serves as
 * the guide's service, and this machine as the receiver's host.
 */
export const play = async (
  steps: readonly Step[],
  folder: string,
  manners: readonly Manner[],
): Promise<readonly Played[]> => {
  const fake = await startFakeServer({ clients: [CLIENT] });
  const scene: Scene = {
    environment: { XDG_STATE_HOME: folder },
    replaced: {
      "https://staging.example/test": fake.controlUrl,
      "https://staging.example": fake.baseUrl,
      '"staging.example"': '"127.0.0.1"',
      [`"${tool.name}"`]: JSON.stringify(path.join(root, "conformance/contract/profile.ts")),
      "receiver.example": "127.0.0.1",
      "0.0.0.0": "127.0.0.1",
      "9443": await freePort().then(String),
      "9444": await freePort().then(String),
    },
    inBackground: [],
  };
  const home = process.cwd();
  const played: Played[] = [];
  try {
    process.chdir(folder);
    for (const step of steps) {
      if (step.kind === "file") {
        mkdirSync(path.dirname(path.join(folder, step.name)), { recursive: true });
        writeFileSync(path.join(folder, step.name), said(step.text, scene));
      } else if (manners.includes(step.manner))
        played.push({ line: step.text, expected: step.exitCode, ...(await playLine(step.text, scene)) });
    }
  } finally {
    for (const { interruption } of scene.inBackground) interruption.abort();
    await Promise.all(scene.inBackground.map(({ ended }) => ended));
    process.chdir(home);
    await fake.stop();
  }
  return played;
};
