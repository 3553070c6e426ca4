import { codeOf } from "../../contract/files.ts";
import { tolerances } from "../../judging/tolerances.ts";
import { getGlobalDispatcher, type Dispatcher } from "undici";
import { withDeadline } from "../clock.ts";
import { epochMsOf } from "../../contract/forms.ts";
import { atPointer, fill, fillAddress, fillJson } from "../../contract/placeholders.ts";
import type { HookValues, HookDefinition } from "../../contract/profile-fetched.ts";
import { shorten } from "../../contract/text.ts";
import type { Answer, TransportError } from "../exchange.ts";
import { messageOf, reasonOf, receive } from "../http/receive.ts";
import { mapValues, parseJson } from "../../contract/json.ts";
import type { Journal, Scope } from "../evidence/journal.ts";
import type { AuthorizeAsked } from "../target.ts";
import { execFile, type ExecFileException } from "node:child_process";

/** A hook failed. The message names the hook; this is a matter of configuration, never a breach. */
export class HookError extends Error {
  override readonly name: string = "HookError";
  /** Its key in the profile. */
  readonly key: string;
  /** How the call ended; undefined if it ended with an unusable answer. */
  readonly end: HookEnd | undefined;
  constructor(hook: string, message: string, end?: HookEnd) {
    const key = keyOfHook(hook);
    super(`${key}: ${message}`);
    this.key = key;
    this.end = end;
  }
}

/** The key of a hook in the profile, by its short name. */
export const keyOfHook = (hook: string): string => (hook.startsWith("authorize.") ? hook : `hooks.${hook}`);

/** How a call ended: over HTTP without a complete answer, or with a status other than success. */
export type HookEnd =
  | { readonly kind: "lost"; readonly reason: TransportError["reason"] }
  | { readonly kind: "status"; readonly status: number; readonly headers: Answer["headers"] };

/** A hook's answer: the raw text and its JSON. */
export interface HookAnswer {
  readonly text: string;
  readonly json: unknown;
}

export interface HookCall {
  readonly interrupted?: AbortSignal | undefined;
  /** The dispatcher for HTTP calls, if not the usual one. */
  readonly dispatcher?: Dispatcher | undefined;
  /** Additional JSON for the hook: on a command's standard input, or as the body of a call that has none. */
  readonly input?: unknown;
}

const MAX_ANSWER_BYTES = 1024 * 1024;

const timeoutOf = (name: string, { timeoutMs }: HookDefinition): number =>
  timeoutMs ?? tolerances[name === "clock.advance" ? "clockAdvanceAnswer" : "hookAnswer"].default;

/**
 * Runs a hook once with its placeholders filled in. Throws HookError if it fails, times out, is interrupted, or answers
 * with a status other than success.
 */
export const runHook = (
  name: string,
  hook: HookDefinition,
  values: HookValues,
  call: HookCall = {},
): Promise<HookAnswer> =>
  withDeadline(timeoutOf(name, hook), call.interrupted, (signal) =>
    "http" in hook ? runHttp(name, hook, values, signal, call) : runCommand(name, hook, values, signal, call),
  );

const runHttp = async (
  name: string,
  hook: Extract<HookDefinition, { http: unknown }>,
  values: HookValues,
  signal: AbortSignal,
  { dispatcher, input }: HookCall,
): Promise<HookAnswer> => {
  const { method, url, headers } = hook.http;
  const timeoutMs = timeoutOf(name, hook);
  const body = hook.http.body === undefined ? input : fillJson(hook.http.body, values);
  const shown = url.replace(/[?#].*$/s, "").replace(/\/\/[^/]*@/, "//");
  try {
    const { origin, pathname, search } = new URL(fillAddress(url, values));
    const answer = await receive(
      dispatcher ?? getGlobalDispatcher(),
      {
        origin,
        method: method ?? (body === undefined ? "GET" : "POST"),
        path: `${pathname}${search}`,
        headers: Object.entries({
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...mapValues(headers ?? {}, (value) => fill(value, values)),
        }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      { timeoutMs, signal, mostBytes: MAX_ANSWER_BYTES },
    );
    const { status, text } = answer;
    if (status < 200 || status > 299)
      throw new HookError(name, `${shown} answered with status ${status}: ${shorten(text, 200)}`, {
        kind: "status",
        status,
        headers: answer.headers,
      });
    return { text, json: parseJson(text) };
  } catch (error) {
    if (error instanceof HookError) throw error;
    const reason = reasonOf(error);
    if (reason === "too-large") throw new HookError(name, `the answer of ${shown} is too large`);
    throw new HookError(name, `${shown} gave no answer: ${messageOf(error)}`, { kind: "lost", reason });
  }
};

const runCommand = async (
  name: string,
  hook: Extract<HookDefinition, { command: unknown }>,
  values: HookValues,
  signal: AbortSignal,
  { input }: HookCall,
): Promise<HookAnswer> => {
  const command = hook.command.map((part) => fill(part, values));
  const given = input === undefined ? "" : JSON.stringify(input);
  const { error, stdout, stderr } = await runProgram(command, signal, given);
  if (error === null) return { text: stdout.trim(), json: parseJson(stdout) };
  const [program] = command;
  if (signal.aborted)
    throw new HookError(name, `${program} did not end within ${timeoutOf(name, hook)} ms`, {
      kind: "lost",
      reason: "timeout",
    });
  throw new HookError(
    name,
    codeOf(error) === "ENOENT"
      ? `there is no program ${program}`
      : `${program} failed: ${shorten((stderr || error.message).trim(), 300)}`,
  );
};

/**
 * The value in a hook's answer: at the profile's JSON pointer (RFC 6901), otherwise in the first of the usual places,
 * otherwise the whole answer if it is a bare value.
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

/** A time in milliseconds since 1970, from a number (`epochMsOf`) or an ISO 8601 text; undefined if it is none of these. */
export const instantMs = (value: unknown): number | undefined => {
  if (typeof value === "number" && Number.isFinite(value)) return epochMsOf(value);
  if (typeof value !== "string" || value === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return instantMs(Number(value));
  const parsed = Date.parse(value);
  return Number.isNaN(parsed) ? undefined : parsed;
};

/** The uncertainty of such a time, in milliseconds: one given in whole seconds may be anywhere in its second. */
export const coarsenessMs = (value: unknown): number => {
  if (typeof value === "number") return value <= 1e11 && Number.isInteger(value) ? 999 : 0;
  if (typeof value !== "string") return 0;
  if (/^\d+(\.\d+)?$/.test(value)) return coarsenessMs(Number(value));
  return /:\d\d[.,]\d/.test(value) ? 0 : 999;
};

const usualPlaces = ["/code", "/url", "/location", "/data/code"];

/**
 * What an answer of authorize would be, with the code that the profile's hook got by going through consent. The hook
 * returns the bare code, JSON with `code`, or the address that the service redirected to. Throws HookError if there is
 * no code.
 */
export const grantByHook = async (
  { result }: HookDefinition,
  asked: AuthorizeAsked,
  run: () => Promise<HookAnswer>,
  { journal, scope }: { readonly journal: Journal; readonly scope: Scope },
): Promise<{ readonly code: string; readonly answer: Answer }> => {
  const exchange = journal.begin(scope);
  const told = await run();
  const json = codeIn(resultOf(told, result, usualPlaces), asked);
  if (json === undefined)
    throw new HookError(
      "authorize.code",
      `no code in its answer, which has ${told.text.length} characters; accepted are JSON with "code", or the address that the service redirects to (or name the place with "result", a JSON pointer)`,
    );
  const answer = { status: 200, headers: [], text: JSON.stringify(json), json };
  const path = shorten(`authorize.code state=${asked.state}`, 200);
  exchange.end({ method: "HOOK", path, headers: [] }, { answer });
  return { code: json.code, answer: { exchange: exchange.n, ...answer } };
};

/** The code and state in a hook's value; a bare code gets the requested state. */
const codeIn = (
  value: unknown,
  asked: AuthorizeAsked,
): { readonly code: string; readonly state: string } | undefined => {
  if (typeof value !== "string" || value === "") return undefined;
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return { code: value, state: asked.state };
  if (!URL.canParse(value)) return undefined;
  const { searchParams, hash } = new URL(value);
  const fragment = new URLSearchParams(hash.slice(1));
  const code = searchParams.get("code") ?? fragment.get("code");
  const state = searchParams.get("state") ?? fragment.get("state") ?? asked.state;
  return code === null || code === "" ? undefined : { code, state };
};

interface Ended {
  /** Null if it succeeded. */
  readonly error: ExecFileException | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program until it ends, or until the signal kills it. One that cannot be started ends with the reason as its
 * error.
 */
export const runProgram = (
  [program = "", ...parameters]: readonly string[],
  signal: AbortSignal,
  input = "",
): Promise<Ended> =>
  new Promise<Ended>((resolve) => {
    const options = { killSignal: "SIGKILL", signal } as const;
    const child = execFile(program, parameters, options, (error, stdout, stderr) =>
      resolve({ error, stdout, stderr }),
    );
    // A program that reads nothing may have exited by now.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    // Processes started by the program may live on and hold its output open; do not wait for them.
    signal.addEventListener("abort", () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    });
    // Node reports some of the reasons for which nothing starts by an event, and throws the others.
  }).catch((error: ExecFileException) => ({ error, stdout: "", stderr: "" }));
