import type { ExchangeRecord } from "../../contract/record.ts";
import { fail, pass, type CaseVerdict } from "../../judging/case-verdict.ts";
import { TransportError } from "../../world/exchange.ts";
import type { Scope } from "../../world/evidence/journal.ts";
import type { World } from "../../world/world.ts";
import type { RunContext } from "../context.ts";
import { createRun } from "../create-run.ts";

/** A context in which nothing is missing unless a test says so. */
export const contextOf = (replaces: Partial<RunContext> & Pick<RunContext, "inWorld">): RunContext => {
  const context: RunContext = {
    rule: "code.single-use",
    effort: "standard",
    seed: 42,
    signal: new AbortController().signal,
    shrinking: { tries: 1_000, mostMs: 60_000 },
    casesAtATime: 6,
    recover: () => Promise.resolve(true),
    spacing: () => ({ lockouts: 0, rests: 0 }),
    keep: () => {},
    alone: (task) => task(context),
    ...replaces,
  };
  return context;
};

/** A run whose worlds can do only one thing: send a request, which leaves an exchange. */
export const open = (replaces: Partial<RunContext> = {}) => {
  const kept: ExchangeRecord[] = [];
  let last = 0;
  const inWorld: RunContext["inWorld"] = (scope: Scope, judge) => {
    const send = (): void => {
      last += 1;
      const request = { method: "GET", path: `/${last}`, headers: [] };
      scope.exchanges.push({ n: last, rule: scope.rule, startedMs: 0, durationMs: 0, request });
    };
    return judge({ target: { unique: () => (send(), String(last)) } } as unknown as World);
  };
  const context = contextOf({ inWorld, keep: (exchanges) => kept.push(...exchanges), ...replaces });
  return { run: createRun(context), kept, sent: () => last };
};

export const always = (judgement: CaseVerdict) => () => Promise.resolve(judgement);
export const wrong = fail("right", "wrong");
/** Passes every value and records it. */
export const noting =
  <T>(seen: T[]) =>
  (value: T) => {
    seen.push(value);
    return Promise.resolve(pass);
  };
export const lost = (reason: TransportError["reason"]) => () =>
  Promise.reject(new TransportError(7, reason, "no answer"));
