import { time } from "./clock.ts";
import { comparison } from "./runtime-compare.ts";
import { labels } from "./runtime-labels.ts";

/** The part of the script that is the same for every failure, inserted verbatim after its constants. */
export const runtime = `${String.raw`
import { spawnSync } from "node:child_process";
import http from "node:http";
import https from "node:https";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const MOST_ROUNDS = 40;
const MOST_REPEATS = 500;
const MOST_STEPS_APART = 12;
const WORTH_WAITING_TWICE_MS = 5_000;
const OTHER_LISTS = "the lists hold different notifications now, or none of those that the breach is about; touchstone replay can judge the rule with any notifications";
const told = new Set(["cache-control", "content-type", "location", "pragma", "www-authenticate"]);

class CannotRun extends Error {}

const LONGEST_SHOWN = 2_000;

/** Text of the service as one line that does nothing to a terminal or a CI service. */
const shown = (text) => {
  const escaped = text.replaceAll(unsafe, (one) => one.split("").map((unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0")).join("")).replaceAll(hashCommand, "#\\u0023");
  if (escaped.length <= LONGEST_SHOWN) return escaped;
  return escaped.slice(0, LONGEST_SHOWN).replace(/[\ud800-\udbff]$/, "") + "… (" + escaped.length.toLocaleString("en") + " characters)";
};
const say = (...lines) => lines.forEach((line) => console.log(shown(line)));
`}${labels}${comparison}${time}${String.raw`
/** How an exchange without an answer ended, as far as another one can end alike. */
const endOf = ({ code, message = "" }) => {
  if (/\(timeout\)/.test(message) || code === "TIMEOUT") return "timeout";
  if (/\(closed\)/.test(message) || ["ECONNRESET", "EPIPE"].includes(code)) return "closed";
  return /\(protocol\)/.test(message) || String(code).startsWith("HPE_") ? "not HTTP" : undefined;
};

const agentsOf = (keepAlive) => Object.fromEntries(Object.entries({ http, https }).map(([name, { Agent }]) => [name + ":", new Agent({ keepAlive })]));

const request = (origin, step, known, agent) =>
  new Promise((resolve, reject) => {
    const url = new URL(origin);
    // The recorded length is that of other values.
    const isOther = ([name]) => name.toLowerCase() === "content-length" && step.body?.includes("{{");
    const headers = step.headers.filter((line) => !isOther(line)).map(([name, value]) => [name, filled(value, known, step.near)]);
    const body = step.body === undefined ? undefined : Buffer.from(filled(step.body, known, step.near, /^\s*[{[]/.test(step.body) ? inJson : asIs));
    if (body !== undefined && !headers.some(([name]) => name.toLowerCase() === "content-length"))
      headers.push(["content-length", String(body.length)]);
    const sent = (url.protocol === "https:" ? https : http).request(
      { host: url.hostname.replaceAll(/[[\]]/g, ""), port: url.port || undefined, method: step.method, path: filled(step.path, known, step.near, encodeURIComponent), headers: Object.fromEntries(headers), timeout: 30_000, agent: agent[url.protocol] },
      (answer) => {
        const parts = [];
        answer.on("data", (part) => parts.push(part));
        answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(parts).toString() }));
        answer.on("error", reject);
      },
    );
    sent.on("timeout", () => sent.destroy(Object.assign(new Error("no answer within 30 s"), { code: "TIMEOUT" })));
    sent.on("error", reject);
    sent.end(body);
  });

/** Sends a request. A lost answer is an answer of its kind only where the record has none either. */
const send = async (origin, step, known, agent) => {
  try {
    return await request(origin, step, known, agent);
  } catch (error) {
    const end = error instanceof CannotRun ? undefined : endOf(error);
    if (step.status !== 0 || end === undefined) throw error;
    return { status: 0, headers: {}, text: "", end };
  }
};

/** Whether a value that came twice comes twice again, in as many requests as there were between. */
const recurs = async ({ steps }, step, name, origin, agent) => {
  const first = steps.find(({ text, answerHeaders }) => (text + JSON.stringify(answerHeaders)).includes("{{" + name + "}}"));
  const most = /\{\{(?!CLIENT_SECRET)/.test(step.path + (step.body ?? "")) ? 0 : Math.min(step.n - first.n, MOST_REPEATS);
  const seen = new Set();
  for (let count = 0; count < most; count += 1) {
    const known = new Map();
    learnFrom(step, await send(origin, step, known, agent), known);
    const value = known.get(name);
    if (value === undefined) return false;
    if (seen.has(value)) return true;
    seen.add(value);
  }
  return false;
};

/** The difference that equal values are different now, or different ones equal. */
const clashOf = async (one, step, { name, other, wasEqual }, origin, agent) => {
  if (wasEqual && (await recurs(one, step, name, origin, agent))) return undefined;
  return wasEqual
    ? { before: name + " was the value that an earlier answer had held", now: "it is another value" }
    : { before: name + " and " + other + " were different values", now: "they are the same value" };
};

/** Sends a history once; returns the first answer that differs, or undefined if none does. */
const round = async (one, origin, agents) => {
  const known = new Map();
  const passUntil = clockOf();
  const groups = [];
  const seen = { then: [], live: [] };
  for (const step of one.steps) (step.beside ? groups.at(-1) : (groups.push([]), groups.at(-1))).push(step);
  for (const group of groups) {
    await passUntil(group[0].atMs);
    const answers = await Promise.all(group.map((step) => send(origin, step, known, step === agents.apart ? agentsOf(false) : agents.kept)));
    const clashes = [];
    for (const [at, answer] of answers.entries()) {
      if (answer.status >= 500 && group[at].status < 500) throw new CannotRun("the service answered " + answer.status);
      clashes.push(...learnFrom(group[at], answer, known).map((clash) => [group[at], clash]));
    }
    const then = group.map(({ status, answerHeaders: headers, text, end }) => ({ status, headers, text, end: endOf({ message: end }) }));
    const live = answers.map(({ status, headers, text, end }) => ({
      status,
      headers: Object.entries(headers).map(([name, value]) => [name, masked(String(value), known)]),
      text: masked(text, known),
      end,
    }));
    seen.then.push(...then);
    seen.live.push(...live);
    const other = difference(then, live, false);
    // Some services answer otherwise, or refuse, where a list has become empty.
    if (other !== undefined && one.isAboutLists && isOfContents(seen)) mustShowKnown(seen);
    if (other !== undefined) return other;
    for (const [step, clash] of clashes) {
      const clashing = await clashOf(one, step, clash, origin, agents.kept);
      if (clashing !== undefined) return clashing;
    }
  }
  if (one.isAboutLists) checkLists(seen);
  return undefined;
};

/** A refused token shows as much whatever a list would hold; a refused limit is tried on the way. */
const isOfContents = ({ then }) => [200, 400].includes(then.at(-1).status) && then.some((one) => isCut(one) || isPage(parsed(one.text)));

/** Lists that show none of the notifications that they showed say nothing, whatever else differs. */
const mustShowKnown = ({ then, live }) => {
  const ids = new Set(live.flatMap(idsIn));
  if (!then.flatMap(idsIn).some((id) => ids.has(id))) throw new CannotRun(OTHER_LISTS);
};

/** A list proves something only if it still shows what it showed: accounts and notifications are those of one service. */
const checkLists = ({ then, live }) => {
  if (!isOfContents({ then })) return;
  if (then.some(isCut)) throw new CannotRun("the record keeps only the beginning of a list; touchstone replay reads it again");
  mustShowKnown({ then, live });
  if (difference(then, live, true) !== undefined) throw new CannotRun(OTHER_LISTS);
};

/** Authorizations that succeeded, each with the first exchange of its code by its own client, if there is one. */
const beginningsOf = ({ steps }) =>
  steps
    .filter(({ path, status }) => /\/authorize\?/.test(path) && status > 0 && status < 400)
    .map((authorize) => {
      const code = (authorize.text + JSON.stringify(authorize.answerHeaders)).match(/\{\{CODE_\d+\}\}/)?.[0];
      const client = new URLSearchParams(authorize.path.replace(/^[^?]*/, "")).get("clientId");
      const exchange = steps.find(({ path, body }) => /\/access-token$/.test(path) && code !== undefined && body?.includes(code));
      const body = parsed(exchange?.body ?? "");
      const isPlain = exchange?.status < 400 && body.clientId === client && body.code === code && /^\{\{CLIENT_SECRET_\d+\}\}$/.test(body.clientSecret);
      return isPlain ? [authorize, exchange] : [authorize];
    });

const MOST_BEGINNINGS = 5;

/** The code of an authorization, in whichever of its two forms it comes now. */
const codeIn = ({ text, headers }) => {
  const location = String(headers.location ?? "");
  const found = URL.canParse(location) ? new URL(location).searchParams.get("code") : undefined;
  return found ?? parsed(text)?.code;
};

const codesOf = (step) => [...(step?.body ?? "").matchAll(/\{\{(CODE_\d+)\}\}/g)].map(([, name]) => name);

/**
 * The service must work for the clients of the history: with a wrong secret, every breach would seem fixed. The first
 * request may be what it now refuses rightly, so others are tried.
 */
const control = async (one, origin) => {
  const own = beginningsOf(one);
  const all = own.length === 0 ? [] : [...own, ...cases.filter((other) => other !== one).flatMap(beginningsOf)];
  let refused;
  for (const beginning of all.slice(0, MOST_BEGINNINGS)) {
    const known = new Map();
    refused = undefined;
    for (const step of beginning) {
      const answer = await send(origin, step, known, agentsOf(false));
      if (answer.status >= 400) refused ??= step.method + " " + step.path.split("?")[0] + " gives " + answer.status;
      if (refused !== undefined) break;
      learnFrom(step, answer, known);
      const code = codeIn(answer);
      if (step === beginning[0] && code !== undefined) for (const name of codesOf(beginning[1])) known.set(name, code);
    }
    if (refused === undefined) return;
  }
  if (refused !== undefined) throw new CannotRun("the service refuses even a valid request: " + refused);
};

/** What differs, as far as a service can be judged by it; undefined if nothing does in one of many rounds. */
const judge = async (one) => {
  if (one.cannot !== undefined) throw new CannotRun(one.cannot);
  const origin = process.env["BASE_URL"] ?? one.origin;
  const isLong = process.env["ADVANCE_COMMAND"] === undefined && one.steps.at(-1).atMs > WORTH_WAITING_TWICE_MS;
  const rounds = one.steps.some(({ beside }) => beside) && !isLong ? MOST_ROUNDS : 1;
  let other;
  for (let count = 0; count < rounds; count += 1) {
    const seen = await round(one, origin, { kept: agentsOf(false) });
    if (seen === undefined) return undefined;
    other ??= seen;
  }
  await control(one, origin);
  if (isLong) return other;
  for (const agent of otherConnections(one)) if ((await round(one, origin, agent).catch(() => other)) === undefined) return undefined;
  await trustDifference(one, origin);
  return other;
};

/** A breach that did not show alone may still be there, and show beside other requests. */
const trustDifference = async (one, origin) => {
  const isOfRepeats = ({ rule, cannot }) => /-fresh$/.test(rule) && cannot === undefined;
  const { failures, attempts } = one.replayed ?? { failures: 0, attempts: 0 };
  const ofRepeats = isOfRepeats(one) ? [] : cases.filter(isOfRepeats);
  for (const other of ofRepeats) {
    if (!repeats.has(other)) repeats.set(other, (await judge(other)) === undefined);
    if (repeats.get(other)) throw new CannotRun("the service still issues one value several times, and this promise may be broken only after many requests, because of that; touchstone replay can tell");
  }
  const isRace = failures > 0 && one.steps.some(({ beside }) => beside);
  if (failures < attempts && !isRace && ofRepeats.length === 0)
    throw new CannotRun("it did not show, but the gate itself saw it again in " + (failures === 0 ? "none" : "only " + failures) + " of " + attempts + " replays, so it may need other requests beside these; touchstone replay can tell");
};

/** Whether breaches of the record that values were not fresh are still there. */
const repeats = new Map();

/** Some services tell connections apart, so requests are also sent over one that is kept, all or all but one of them. */
const otherConnections = ({ steps }) => {
  const isShort = steps.length <= MOST_STEPS_APART && steps.every(({ beside, atMs }) => !beside && atMs === 0);
  const apart = isShort ? steps.slice(1).reverse() : [];
  return [undefined, ...apart].map((step) => ({ kept: agentsOf(true), apart: step }));
};

const asked = process.argv.slice(2);
const chosen = cases.filter(({ rule }) => asked.length === 0 || asked.includes(rule));
let worst = chosen.length === 0 && asked.length > 0 ? 3 : 0;
if (worst === 3) console.error("no failure of " + shown(asked.join(", ")) + " is in this file; accepted is one of " + cases.map(({ rule }) => shown(rule)).join(", ") + ", or nothing for all of them; another address is given as BASE_URL");
for (const one of chosen) {
  say(one.rule + ": " + one.sentence);
  try {
    const other = await judge(one);
    if (other === undefined) {
      say("  STILL BROKEN: the service answers as it did then", "  expected  " + one.expected, "  seen then " + one.actual);
      worst = 1;
    } else say("  answers differently now", "  then  " + other.before, "  now   " + other.now);
  } catch (error) {
    say("  COULD NOT BE TRIED: " + (error instanceof CannotRun || error.code === "TIMEOUT" ? error.message : error.code ?? error.message));
    if (worst === 0) worst = 3;
  }
}
process.exitCode = worst;
`}`;
