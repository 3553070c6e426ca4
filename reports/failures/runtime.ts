/** The part of the script that is the same for every failure, inserted verbatim after `cases` and `unsafe`. */
export const runtime = String.raw`
import { spawnSync } from "node:child_process";
import http from "node:http";
import https from "node:https";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const MOST_ROUNDS = 40;
const WORTH_WAITING_MS = 400;
const told = new Set(["cache-control", "content-type", "location", "pragma", "www-authenticate"]);

class CannotRun extends Error {}

const LONGEST_SHOWN = 2_000;

/** Text of the service as one line that does nothing to a terminal. */
const shown = (text) => {
  const escaped = text.replaceAll(unsafe, (one) => one.split("").map((unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0")).join(""));
  if (escaped.length <= LONGEST_SHOWN) return escaped;
  return escaped.slice(0, LONGEST_SHOWN).replace(/[\ud800-\udbff]$/, "") + "… (" + escaped.length.toLocaleString("en") + " characters)";
};
const say = (...lines) => lines.forEach((line) => console.log(shown(line)));

/** Which client a secret belongs to, as a request shows. */
const ownerOf = (name) => {
  const bodies = cases.flatMap(({ steps }) => steps.map(({ body = "" }) => body));
  const found = bodies.find((body) => body.includes("{{" + name + "}}"));
  const client = /"clientId":\s*"([^"]+)"/.exec(found ?? "")?.[1];
  return client !== undefined && name.startsWith("CLIENT_SECRET") ? ", the secret of the client " + client : "";
};

const filled = (text, known) =>
  text.replaceAll(/\{\{([A-Z_]+_\d+)\}\}/g, (_, name) => {
    const value = known.get(name) ?? process.env[name];
    if (value === undefined) throw new CannotRun("set the environment variable " + name + ownerOf(name));
    return value;
  });

const send = (origin, step, known) =>
  new Promise((resolve, reject) => {
    const url = new URL(origin);
    const headers = step.headers.map(([name, value]) => [name, filled(value, known)]);
    const body = step.body === undefined ? undefined : Buffer.from(filled(step.body, known));
    if (body !== undefined && !headers.some(([name]) => name.toLowerCase() === "content-length"))
      headers.push(["content-length", String(body.length)]);
    const request = (url.protocol === "https:" ? https : http).request(
      { host: url.hostname.replaceAll(/[[\]]/g, ""), port: url.port || undefined, method: step.method, path: filled(step.path, known), headers: Object.fromEntries(headers), timeout: 30_000 },
      (answer) => {
        const parts = [];
        answer.on("data", (part) => parts.push(part));
        answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(parts).toString() }));
        answer.on("error", reject);
      },
    );
    request.on("timeout", () => request.destroy(new Error("no answer within 30 s")));
    request.on("error", reject);
    request.end(body);
  });

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Keeps the live value wherever the earlier answer had a credential. */
const learn = (before, now, known) => {
  const name = typeof before === "string" ? /^\{\{(.+)\}\}$/.exec(before)?.[1] : undefined;
  if (name !== undefined && typeof now === "string") known.set(name, now);
  else if (typeof before === "string" && typeof now === "string" && before.includes("{{")) {
    const names = [...before.matchAll(/\{\{(.+?)\}\}/g)].map(([, one]) => one);
    const escaped = before.split(/\{\{.+?\}\}/).map((part) => part.replaceAll(/[.*+?^$\{}()|[\]\\]/g, "\\$&"));
    const found = new RegExp("^" + escaped.join("(.+?)") + "$").exec(now) ?? [];
    for (const [at, one] of names.entries()) if (found[at + 1] !== undefined) known.set(one, found[at + 1]);
  } else if (before !== null && now !== null && typeof before === "object" && typeof now === "object")
    for (const key of Object.keys(before)) learn(before[key], now[key], known);
};

/** What is compared of an answer: of values that differ each time, only their kind. */
const kindOf = (value, isDeep = false) => {
  if (Array.isArray(value)) return { items: value.length, each: [...new Set(value.map((one) => JSON.stringify(kindOf(one, true))))].sort() };
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, kindOf(value[key], isDeep)]));
  if (typeof value === "number") return value > 1e11 ? "moment" : isDeep ? "number" : value;
  if (typeof value !== "string") return value;
  if (value.includes("{{")) return "credential";
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return "moment";
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) return "uuid";
  return isDeep ? "text" : value;
};

/** A live answer with its credentials as labels, so that it can be compared. */
const masked = (value, known) => {
  let text = value;
  for (const [name, secret] of known) if (secret.length > 3) text = text.replaceAll(secret, "{{" + name + "}}");
  return text;
};

const isPage = (value) => value !== null && typeof value === "object" && Array.isArray(value.data);

/** Which notifications a service holds does not matter, unless the breach is about lists. */
const bodyOf = (text, withItems) => {
  const body = parsed(text);
  return isPage(body) && !withItems ? { page: Object.keys(body).sort() } : kindOf(body);
};

const shapeOf = ({ status, headers, text }, withItems) =>
  JSON.stringify({
    status,
    headers: Object.fromEntries(headers.filter(([name]) => told.has(name.toLowerCase())).map(([name, value]) => [name.toLowerCase(), kindOf(String(value))]).sort()),
    body: bodyOf(text, withItems),
  });

const passTime = async (ms) => {
  if (ms < WORTH_WAITING_MS) return;
  const command = process.env["ADVANCE_COMMAND"];
  if (command === undefined) {
    say("  waiting " + (ms / 1_000).toFixed(1) + " s; ADVANCE_COMMAND would move the service's clock instead");
    await sleep(ms);
    return;
  }
  const moved = spawnSync(command, { shell: true, env: { ...process.env, MS: String(ms) }, encoding: "utf8" });
  if (moved.status !== 0) throw new CannotRun("ADVANCE_COMMAND failed: " + moved.stderr);
};

const difference = (then, live, withItems) => {
  const before = then.map((one) => shapeOf(one, withItems)).sort();
  const now = live.map((one) => shapeOf(one, withItems)).sort();
  const other = now.find((shape, at) => shape !== before[at]);
  return other === undefined ? undefined : { before: before.find((shape) => !now.includes(shape)) ?? before[0], now: other };
};

/** Sends a history once; returns the first answer that differs, or undefined if none does. */
const round = async ({ rule, steps }, origin) => {
  const known = new Map();
  const groups = [];
  for (const step of steps) (step.beside ? groups.at(-1) : (groups.push([]), groups.at(-1))).push(step);
  for (const group of groups) {
    await passTime(group[0].afterMs);
    const answers = await Promise.all(group.map((step) => send(origin, step, known)));
    for (const [at, answer] of answers.entries()) {
      if (answer.status >= 500 && group[at].status < 500) throw new CannotRun("the service answered " + answer.status);
      learn(parsed(group[at].text), parsed(answer.text), known);
    }
    const then = group.map(({ status, answerHeaders: headers, text }) => ({ status, headers, text }));
    const live = answers.map(({ status, headers, text }) => ({ status, headers: Object.entries(headers), text: masked(text, known) }));
    const other = difference(then, live, false);
    if (other !== undefined) return other;
    if (rule.startsWith("notifications.") && difference(then, live, true) !== undefined)
      throw new CannotRun("the lists hold different notifications now; touchstone replay can judge the rule with any notifications");
  }
  return undefined;
};

/** The service must work for the client of the history: with a wrong secret, every breach would seem fixed. */
const control = async ({ steps }, origin) => {
  const authorize = steps.find(({ path, status }) => /\/authorize\?/.test(path) && status < 400);
  const exchange = steps.find(({ path, body, status }) => /\/access-token/.test(path) && body !== undefined && status < 400);
  if (authorize === undefined) return;
  const known = new Map();
  for (const step of [authorize, exchange].filter(Boolean)) {
    const answer = await send(origin, step, known);
    if (answer.status >= 400) throw new CannotRun("the service refuses even a valid request: " + step.method + " " + step.path.split("?")[0] + " gives " + answer.status);
    learn(parsed(step.text), parsed(answer.text), known);
    const code = [...known.keys()].find((name) => name.startsWith("CODE_"));
    if (step === authorize && exchange !== undefined && code !== undefined)
      for (const [, name] of exchange.body.matchAll(/\{\{(CODE_\d+)\}\}/g)) known.set(name, known.get(code));
  }
};

const judge = async (one) => {
  if (one.cannot !== undefined) throw new CannotRun(one.cannot);
  const origin = process.env["BASE_URL"] ?? one.origin;
  await control(one, origin);
  const rounds = one.steps.some(({ beside }) => beside) ? MOST_ROUNDS : 1;
  let other;
  for (let count = 0; count < rounds; count += 1) {
    other = await round(one, origin);
    if (other === undefined) return undefined;
  }
  return other;
};

const asked = process.argv.slice(2);
const chosen = cases.filter(({ rule }) => asked.length === 0 || asked.includes(rule));
let worst = chosen.length === 0 && asked.length > 0 ? 3 : 0;
if (worst === 3) console.error("no failure of " + shown(asked.join(", ")) + " is in this file; accepted is one of " + cases.map(({ rule }) => rule).join(", ") + ", or nothing for all of them; another address is given as BASE_URL");
for (const one of chosen) {
  say(one.rule + ": " + one.sentence);
  try {
    const other = await judge(one);
    if (other === undefined) {
      say("  STILL BROKEN", "  expected  " + one.expected, "  actual    " + one.actual);
      worst = 1;
    } else say("  answers differently now", "  then  " + other.before, "  now   " + other.now);
  } catch (error) {
    say("  COULD NOT BE TRIED: " + (error instanceof CannotRun ? error.message : error.code ?? error.message));
    if (worst === 0) worst = 3;
  }
}
process.exitCode = worst;
`;
