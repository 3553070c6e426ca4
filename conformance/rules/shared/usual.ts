import type { Judge, Run } from "../../checks/rule.ts";
import type { Verdict } from "../../contract/verdict.ts";
import { fail, type CaseVerdict } from "../../judging/case-verdict.ts";
import { TransportError } from "../../world/exchange.ts";
import type { Target } from "../../world/target.ts";
import { asUsual, type World } from "../../world/world.ts";

/* What common clients do and the rules' own requests do not: they accept compressed answers, and send cookies back. */

const prefixed = (verdict: CaseVerdict, how: string): CaseVerdict =>
  verdict.kind === "failed" ? { ...verdict, actual: `${how}, ${verdict.actual}` } : verdict;

/** Judges once more with the cookies that the service has set meanwhile: a session must not stand in for what is wrong. */
export const alsoWithCookies =
  <T>(judge: Judge<T>): Judge<T> =>
  async (value, world) => {
    const verdict = await judge(value, world);
    if (verdict.kind !== "passed" || !world.target.hasCookies()) return verdict;
    return prefixed(await judge(value, asUsual(world)), "with the cookies that the service had set");
  };

const ROUNDS = 2;

/**
 * Judges a request that must succeed, and the same one as a common client sends it, through the target that `judge` is
 * given. If only the latter gets no whole answer, each time, the service does not keep its promise to such clients.
 */
export const alsoAsUsual = (
  run: Run,
  judge: (world: World, target: Target) => Promise<CaseVerdict>,
): Promise<Verdict> =>
  run.once(
    async (world) => {
      for (let round = 1; ; round += 1) {
        const verdict = await judge(world, world.target);
        if (verdict.kind !== "passed") return verdict;
        try {
          const usual = await judge(world, world.target.usual());
          return prefixed(usual, "for a client that accepts gzip and sends cookies back");
        } catch (error) {
          if (!(error instanceof TransportError) || !isCutShort.has(error.reason)) throw error;
          world.evidence.ignoreLoss(error.exchange);
          if (round < ROUNDS) continue;
          return fail(
            "a client that accepts gzip gets a whole answer",
            `${error.message}, ${ROUNDS} times, while the same request without Accept-Encoding was answered before`,
          );
        }
      }
    },
    { part: "a common client", replays: 0 },
  );

const isCutShort: ReadonlySet<TransportError["reason"]> = new Set(["closed", "timeout", "protocol"]);
