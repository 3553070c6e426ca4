import type { Behaviour } from "../behaviour.ts";
import { randomFrom } from "../random.ts";
import type { Service } from "../context.ts";
import { type Defect, defect } from "../registry.ts";

/** Limits in a stretch are cut to what lies below it; smaller and greater ones are served. */
const cutBetween =
  (from: number, to: number) =>
  (sound: Behaviour): Pick<Behaviour, "limitFor"> => ({
    limitFor: (asked, context) => {
      const rightly = sound.limitFor(asked, context);
      return rightly !== undefined && rightly >= from && rightly <= to ? from - 1 : rightly;
    },
  });

const TICK_MS = 20;
/** Chance that is drawn anew every few milliseconds of real time. */
const drawnBy = ({ clock }: Pick<Service, "clock">) => randomFrom(Math.floor(clock.realMs() / TICK_MS));

/** What goes well with the few, the small and the unhurried (sections 2.1, 2.2 and 4.4). */
export const boundDefects = {
  "limit-between-33-and-39-cut": defect(
    "A limit from 33 to 39 gives 32 items, and a greater one all that was asked for.",
    ["notifications.limit"],
    cutBetween(33, 39),
  ),
  "limit-between-41-and-55-cut": defect(
    "A limit from 41 to 55 gives 40 items, and a greater one all that was asked for.",
    ["notifications.limit"],
    cutBetween(41, 55),
  ),
  "total-eighty-at-most": defect("total counts up to eighty.", ["notifications.under-writes"], (sound) => ({
    total: (matched, ...more) => sound.total(Math.min(matched, 80), ...more),
  })),
  "state-known-by-its-beginning": defect(
    "A state is accepted when its first 128 characters were before.",
    ["authorize.state-length"],
    (sound) => {
      const known = new Set<string>();
      return {
        acceptsState: (state, query, context) => {
          const accepted = sound.acceptsState(state, query, context);
          if (accepted && state !== undefined) known.add(state);
          return accepted || known.has(state?.slice(0, 128) ?? "");
        },
      };
    },
  ),
  "codes-drawn-every-20-ms": defect(
    "Two authorizations within 20 milliseconds get the same code.",
    ["authorize.code-is-fresh"],
    () => ({ mintCode: (_client, _state, service) => drawnBy(service).token(24) }),
  ),
  "tokens-drawn-every-20-ms": defect(
    "Two exchanges within 20 milliseconds get the same tokens.",
    ["exchange.tokens-are-fresh"],
    () => ({
      mintAccessToken: (_client, _lifetimeMs, service) => drawnBy(service).token(32),
      mintRefreshToken: (_client, service) => drawnBy(service).token(33),
    }),
  ),
} satisfies Record<string, Defect>;
