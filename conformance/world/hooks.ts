import { execFile } from "node:child_process";
import { request, type Dispatcher } from "undici";
import { withDeadline } from "./clock.ts";
import type { HookDefinition } from "../contract/profile.ts";
import { shorten } from "../text.ts";
import { messageOf, parseJson } from "./transport.ts";

/** A hook did not do what it is there for. The message names the hook; it is a matter of configuration, never a breach. */
export class HookError extends Error {
  readonly hook: string;
  /** Where the profile has it. */
  readonly key: string;
  constructor(hook: string, message: string) {
    const key = hook.startsWith("authorize.") ? hook : `hooks.${hook}`;
    super(`${key}: ${message}`);
    this.name = "HookError";
    this.hook = hook;
    this.key = key;
  }
}

/** What a hook answered: the raw text, and the value that its pointer names. */
export interface HookAnswer {
  readonly text: string;
  readonly json: unknown;
}

type Values = Readonly<Record<string, string | number>>;

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_ANSWER_CHARACTERS = 1024 * 1024;

/**
 * Runs one hook with its placeholders filled in. Throws HookError where it fails, times out, is
 * interrupted, or answers with a status that is none of success. Calls over HTTP go through `dispatcher`, where one is given.
 */
export const runHook = (
  name: string,
  hook: HookDefinition,
  values: Values,
  interrupted?: AbortSignal,
  dispatcher?: Dispatcher,
): Promise<HookAnswer> =>
  withDeadline(hook.timeoutMs ?? DEFAULT_TIMEOUT_MS, interrupted, (signal) =>
    "http" in hook ? runHttp(name, hook, values, signal, dispatcher) : runCommand(name, hook, values, signal),
  );

const fill = (template: string, values: Values): string =>
  template.replace(/\{\{(\w+)\}\}/g, (whole, key: string) =>
    Object.hasOwn(values, key) ? String(values[key]) : whole,
  );

/** Fills strings anywhere in a JSON value; a string that is one placeholder alone takes the value's own type. */
const fillJson = (template: unknown, values: Values): unknown => {
  if (typeof template === "string") {
    const alone = /^\{\{(\w+)\}\}$/.exec(template)?.[1];
    return alone !== undefined && Object.hasOwn(values, alone) ? values[alone] : fill(template, values);
  }
  if (Array.isArray(template)) return template.map((item) => fillJson(item, values));
  if (typeof template === "object" && template !== null)
    return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fillJson(value, values)]));
  return template;
};

const fillAddress = (template: string, values: Values): string =>
  fill(
    template,
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, encodeURIComponent(value)])),
  );

const runHttp = async (
  name: string,
  hook: Extract<HookDefinition, { http: unknown }>,
  values: Values,
  signal: AbortSignal,
  dispatcher: Dispatcher | undefined,
): Promise<HookAnswer> => {
  const { method, url, headers, body } = hook.http;
  const shown = url.replace(/[?#].*$/s, "").replace(/\/\/[^/]*@/, "//");
  try {
    const answer = await request(fillAddress(url, values), {
      method: (method ?? (body === undefined ? "GET" : "POST")) as "GET",
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...Object.fromEntries(
          Object.entries(headers ?? {}).map(([key, value]) => [key, fill(value, values)]),
        ),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(fillJson(body, values)) }),
      signal,
      ...(dispatcher === undefined ? {} : { dispatcher }),
    });
    let text = "";
    for await (const chunk of answer.body.setEncoding("utf8") as AsyncIterable<string>) {
      text += chunk;
      if (text.length > MAX_ANSWER_CHARACTERS) throw new HookError(name, `the answer of ${shown} has no end`);
    }
    if (answer.statusCode < 200 || answer.statusCode > 299)
      throw new HookError(name, `${shown} answered with status ${answer.statusCode}: ${shorten(text, 200)}`);
    return { text, json: parseJson(text) };
  } catch (error) {
    if (error instanceof HookError) throw error;
    throw new HookError(name, `${shown} gave no answer: ${messageOf(error)}`);
  }
};

const runCommand = (
  name: string,
  hook: Extract<HookDefinition, { command: unknown }>,
  values: Values,
  signal: AbortSignal,
): Promise<HookAnswer> => {
  const [program = "", ...parameters] = hook.command.map((part) => fill(part, values));
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      parameters,
      { killSignal: "SIGKILL", signal },
      (error, stdout, stderr) => {
        if (error === null) resolve({ text: stdout.trim(), json: parseJson(stdout) });
        else if (signal.aborted) reject(new HookError(name, `${program} did not end in time`));
        else
          reject(new HookError(name, `${program} failed: ${shorten((stderr || error.message).trim(), 300)}`));
      },
    );
    // What the program has started itself may live on and hold its output open: nobody waits for that.
    signal.addEventListener("abort", () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    });
  });
};

/**
 * The value in a hook's answer: the one that the profile's JSON pointer (RFC 6901) names, or the first
 * of the usual places, or the whole answer where it is a bare value.
 */
export const resultOf = (
  answer: HookAnswer,
  pointer: string | undefined,
  usual: readonly string[],
): unknown => {
  if (pointer !== undefined) return atPointer(answer.json, pointer);
  for (const place of usual) {
    const value = atPointer(answer.json, place);
    if (value !== undefined) return value;
  }
  if (typeof answer.json === "object") return undefined;
  return answer.json ?? (answer.text === "" ? undefined : answer.text);
};

const atPointer = (value: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>(
      (inner, key) =>
        typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined,
      value,
    );

/** A moment in milliseconds since 1970, out of milliseconds, seconds or an ISO 8601 text; undefined where it is none. */
export const instantMs = (value: unknown): number | undefined => {
  if (typeof value === "number" && Number.isFinite(value)) return value > 1e11 ? value : value * 1_000;
  if (typeof value !== "string" || value === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return instantMs(Number(value));
  const parsed = Date.parse(value);
  return Number.isNaN(parsed) ? undefined : parsed;
};

/** What such a moment leaves open, in milliseconds: one that is told in whole seconds may be anywhere in its second. */
export const coarsenessMs = (value: unknown): number => {
  if (typeof value === "number") return value <= 1e11 && Number.isInteger(value) ? 999 : 0;
  if (typeof value !== "string") return 0;
  if (/^\d+(\.\d+)?$/.test(value)) return coarsenessMs(Number(value));
  return /:\d\d[.,]\d/.test(value) ? 0 : 999;
};
