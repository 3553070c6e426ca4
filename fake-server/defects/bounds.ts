import { randomFrom } from "../random.ts";
import type { Service } from "../context.ts";
import { change, decide, decisions, type Replacement, rows } from "../registry.ts";

/** Truncates limits within a range to just below it; smaller and greater ones are served. */
const cutBetween = (from: number, to: number): Replacement =>
  change("limitFor", (usual) => (usual !== undefined && usual >= from && usual <= to ? from - 1 : usual));

const TICK_MS = 20;
/** Randomness that is redrawn every few milliseconds of real time. */
const drawnBy = ({ clock }: Pick<Service, "clock">) => randomFrom(Math.floor(clock.realMs() / TICK_MS));

/** Defects that do not show with few, small and slow requests (sections 2.1, 2.2 and 4.4). */
export const boundDefects = rows({
  "notifications.limit": {
    "limit-between-33-and-39-cut: A limit from 33 to 39 gives 32 items; a greater one gives all.": cutBetween(
      33,
      39,
    ),
    "limit-between-41-and-55-cut: A limit from 41 to 55 gives 40 items; a greater one gives all.": cutBetween(
      41,
      55,
    ),
  },
  "notifications.under-writes": {
    "total-eighty-at-most: total is never more than eighty.": decisions((sound) => ({
      total: (matched, ...more) => sound.total(Math.min(matched, 80), ...more),
    })),
  },
  "authorize.state-length": {
    "state-known-by-its-beginning: A state is accepted if one with the same first 128 characters was accepted before.":
      decisions((sound, known = new Set<string>()) => ({
        acceptsState: (state, query, context) => {
          const accepted = sound.acceptsState(state, query, context);
          if (accepted && state !== undefined) known.add(state);
          return accepted || known.has(state?.slice(0, 128) ?? "");
        },
      })),
  },
  "authorize.code-is-fresh": {
    "codes-drawn-every-20-ms: Two authorizations within 20 milliseconds get the same code.": decide(
      "mintCode",
      (_client, _state, service) => drawnBy(service).token(24),
    ),
  },
  "exchange.tokens-are-fresh": {
    "tokens-drawn-every-20-ms: Two exchanges within 20 milliseconds get the same tokens.": decisions(() => ({
      mintAccessToken: (_client, _lifetimeMs, service) => drawnBy(service).token(32),
      mintRefreshToken: (_client, service) => drawnBy(service).token(33),
    })),
  },
});
