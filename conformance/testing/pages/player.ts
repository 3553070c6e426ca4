import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import type { Running } from "../../../commands/program.ts";
import { startFakeServer } from "../../../fake-server/index.ts";
import { tool } from "../../record/tool.ts";
import { root } from "../measure.ts";
import { startHere } from "../run-here.ts";
import { freePort } from "../servers.ts";
import { definitions } from "../reference/commands-page.ts";

/** How a fenced line is tested: played in each test, played only by `npm run bench -- pages`, or only parsed. */
export type Manner = "played" | "heavy" | "parsed";

export type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | {
      readonly kind: "line";
      readonly text: string;
      readonly manner: Manner;
      /** Why a line is only parsed; empty for others. */
      readonly reason: string;
      /** The exit code that the page states; 0 if it states none. */
      readonly exitCode: number;
    };

const fence = /^```(\w+)(?: ([^\n]+))?\n(.*?)^```$/gms;

/**
 * The steps of a page: its files (fences with a name after the language) and the lines of its shell fences. `heavy` or
 * `parsed: REASON` after `sh` marks lines that are not played in each test; neither shows once rendered.
 */
export const stepsOf = (markdown: string): readonly Step[] =>
  [...markdown.matchAll(fence)].flatMap(([, language = "", more = "", text = ""]): readonly Step[] => {
    if (language === "sh") return linesOf(text, more);
    return more === "" ? [] : [{ kind: "file", name: more, text }];
  });

const linesOf = (text: string, mark: string): readonly Step[] => {
  const [, manner = "played", reason = ""] = /^(heavy|parsed)(?:: (.+))?$/.exec(mark) ?? [];
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, command = line, remark = ""] = /^(.*?)\s+# (.*)$/.exec(line) ?? [];
      const [, code = "0"] = /^exit code (\d+)$/.exec(remark) ?? [];
      return { kind: "line", text: command, manner: manner as Manner, reason, exitCode: Number(code) };
    });
};

const program = "(?:touchstone|npx touchstone-harness|npm run --silent touchstone --)";
const names = definitions.map((command) => command.name()).join("|");
const called = new RegExp(String.raw`(?<![\w/-])${program} ((?:${names})\b(?:"[^"]*"|[^"&;|>])*)`, "g");

/** The words of each call of Touchstone in a shell line, without expansions. */
export const callsOf = (line: string): readonly (readonly string[])[] =>
  [...line.matchAll(called)].map(([, words = ""]) => wordsOf(words));

const wordsOf = (text: string): readonly string[] =>
  [...text.matchAll(/(?:"[^"]*"|[^\s"]+)+/g)].map(([word]) => word.replaceAll('"', ""));

/** The result of a line: what the page says about it, and what was seen. */
interface Played {
  readonly line: string;
  readonly expected: number;
  readonly exitCode: number;
  readonly said: string;
}

/** The setting of a page: the service that it mentions, and the ports of its receivers. */
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
  const [parameters] = callsOf(said(line, scene));
  if (parameters === undefined)
    return { exitCode: 0, said: (await promisify(execFile)("sh", ["-c", said(line, scene)])).stdout };
  const isInBackground = line.endsWith(" &");
  let heard = "";
  const listening = Promise.withResolvers<number>();
  const running = startHere(parameters, scene.environment, (text) => {
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
 * Plays the lines of a page with the given manners, one after another, in an empty folder. The embedded fake serves as
 * the page's service, and this machine as the receiver's host.
 */
export const play = async (
  steps: readonly Step[],
  folder: string,
  manners: readonly Manner[],
): Promise<readonly Played[]> => {
  const fake = await startFakeServer({ clients: [CLIENT] });
  const ports = await Promise.all(
    ["9443", "9444", "9445", "9446"].map(async (port) => [port, String(await freePort())] as const),
  );
  const scene: Scene = {
    environment: { XDG_STATE_HOME: folder },
    replaced: {
      "https://staging.example/test": fake.controlUrl,
      "https://staging.example": fake.baseUrl,
      '"staging.example"': '"127.0.0.1"',
      [`"${tool.name}"`]: JSON.stringify(path.join(root, "conformance/contract/profile.ts")),
      "receiver.example": "127.0.0.1",
      "0.0.0.0": "127.0.0.1",
      ...Object.fromEntries(ports),
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
