import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Running } from "../../../commands/program.ts";
import { startFakeServer } from "../../../fake-server/index.ts";
import { tool } from "../../record/tool.ts";
import { root } from "../measure.ts";
import { startHere } from "../run-here.ts";
import { wordsOf, type Manner, type Step } from "./guide.ts";
import { freePort } from "../servers.ts";

/** The result of a line: what the guide says about it, and what was seen. */
export interface Played {
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
