import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { Context, CodeRecord, Grant } from "../context.ts";
import { afterwards, decide, decisions, livesFor, type Replacement, rows } from "../registry.ts";
import { counted } from "./tools.ts";

const lives = (lifetimeMs: number): Replacement => livesFor("codeIsAlive", lifetimeMs);

/** Looks, waits (real milliseconds; 0 is one turn of the event loop), and then writes. */
const lookingThenWriting = (realMs: number): Replacement =>
  decide("takeCode", async (record, { nowMs, clock }) => {
    if (record.usedAtMs !== undefined) return false;
    await clock.pause(realMs);
    record.usedAtMs = nowMs;
    return true;
  });

/** Every other code that `concerned` holds for is gone. */
const forgetOthers = (
  used: CodeRecord | undefined,
  { credentials }: Context,
  concerned: (other: CodeRecord, used: CodeRecord) => boolean,
): void => {
  if (used === undefined) return;
  for (const [code, other] of credentials.codes)
    if (other !== used && other.usedAtMs === undefined && concerned(other, used))
      credentials.codes.delete(code);
};

const ofSameClient = (other: CodeRecord, used: CodeRecord): boolean => other.clientId === used.clientId;

/** Reuse allowed again once `pauseMs` have passed since the first use. */
const reuseAfter = (pauseMs: number): Replacement =>
  decide("takeCode", (record, { nowMs }) => {
    if (record.usedAtMs !== undefined && nowMs - record.usedAtMs < pauseMs) return false;
    record.usedAtMs = nowMs;
    return true;
  });

/** The life of a code (sections 2.1 and 3.1) gone wrong. */
export const codeDefects = rows({
  "code.single-use": {
    "code-reusable: A code can be exchanged again and again.": [
      decide("takeCode", () => true),
      "code.single-use-under-race",
    ],
    "code-reusable-within-two-seconds: For two seconds a repeated exchange counts as a retry.": [
      decide("takeCode", (record, { nowMs }) => {
        record.usedAtMs ??= nowMs;
        return nowMs - record.usedAtMs < 2 * SECOND_MS;
      }),
      "code.single-use-under-race",
    ],
    "code-reusable-a-second-later: A second after its use a code works again.": reuseAfter(SECOND_MS),
    "code-reusable-a-minute-later: A minute after its use a code works again.": reuseAfter(MINUTE_MS),
    "code-reusable-twice: A code can be exchanged twice.": decisions((_sound, uses = counted()) => ({
      takeCode: (record, { nowMs }) => {
        record.usedAtMs = nowMs;
        return uses(record) <= 2;
      },
    })),
    "code-reusable-on-third-try: Refusing a code's second exchange clears its mark: the third succeeds.":
      afterwards("afterRefusedExchange", (record, kind) => {
        if (record !== undefined && kind === "code-used") record.usedAtMs = undefined;
      }),
    "code-reusable-after-refresh: A refresh restores the grant as it was, the unused code included.":
      decisions((_sound, codes = new WeakMap<Grant, CodeRecord>()) => ({
        afterExchange: (record, tokens) => void codes.set(tokens.grant, record),
        afterRefresh: (record) => {
          const code = codes.get(record.grant);
          if (code !== undefined) code.usedAtMs = undefined;
        },
      })),
    "code-reusable-on-another-connection: Used codes are remembered for each connection by itself.": [
      decisions((_sound, used = new WeakMap<CodeRecord, WeakSet<object>>()) => ({
        takeCode: (record, { nowMs, from }) => {
          const connections = used.get(record) ?? new WeakSet();
          used.set(record, connections);
          if (connections.has(from.socket)) return false;
          connections.add(from.socket);
          record.usedAtMs = nowMs;
          return true;
        },
      })),
      "code.single-use-under-race",
    ],
    "code-reusable-on-same-connection: The connection that used a code may use it again.": decisions(
      (_sound, users = new WeakMap<CodeRecord, object>()) => ({
        takeCode: (record, { nowMs, from }) => {
          if (record.usedAtMs !== undefined) return users.get(record) === from.socket;
          record.usedAtMs = nowMs;
          users.set(record, from.socket);
          return true;
        },
      }),
    ),
    "code-never-granted: No code is ever exchanged.": decide("takeCode", () => false),
    "code-used-list-of-twenty: The twenty codes that were used last are known to be used.": decisions(
      (_sound, used: string[] = []) => ({
        takeCode: ({ code }) => {
          if (used.includes(code)) return false;
          used.push(code);
          if (used.length > 20) used.shift();
          return true;
        },
      }),
    ),
    "code-marked-as-spelt: A code is found however it is spelt, and marked as used in that spelling alone.":
      decisions((sound) => {
        const used = new Set<unknown>();
        let presented: unknown;
        return {
          findCode: (value, context) => {
            presented = value;
            return sound.findCode(typeof value === "string" ? value.trim() : value, context);
          },
          takeCode: () => {
            const isNew = !used.has(presented);
            used.add(presented);
            return isNew;
          },
        };
      }),
    "code-reusable-once-tokens-expired: A code can be used again once its tokens have expired.": decisions(
      (sound) => ({
        takeCode: (record, { nowMs, limits }) => {
          if (record.usedAtMs !== undefined) return nowMs - record.usedAtMs > limits.accessTokenLifetimeMs;
          record.usedAtMs = nowMs;
          return true;
        },
        codeIsAlive: (record, context) => record.usedAtMs !== undefined || sound.codeIsAlive(record, context),
      }),
    ),
    "code-reusable-after-wrong-secret: A used code that is presented with a wrong secret can be used again.":
      afterwards("afterRefusedExchange", (record, kind) => {
        if (record !== undefined && kind === "client-unauthenticated") record.usedAtMs = undefined;
      }),
  },
  "code.single-use-under-race": {
    "code-race-of-one-turn: Between the look at a code and its use other requests get one turn.":
      lookingThenWriting(0),
    "code-race-of-one-millisecond: Between the look at a code and its use a database takes one millisecond.":
      lookingThenWriting(1),
    "code-race-of-five-milliseconds: Five milliseconds pass between checking and using a code.":
      lookingThenWriting(5),
    "code-race-of-twenty-milliseconds: Twenty milliseconds pass between checking and using a code.":
      lookingThenWriting(20),
    "code-race-between-nodes: Two nodes hear of each other's redemptions ten milliseconds late.": decisions(
      (
        _sound,
        nodes = new WeakMap<object, number>(),
        takenAt = new WeakMap<CodeRecord, { readonly node: number; readonly atMs: number }>(),
        connections = 0,
      ) => ({
        takeCode: (record, { nowMs, from, clock }) => {
          const node = nodes.get(from.socket) ?? (connections += 1) % 2;
          nodes.set(from.socket, node);
          const taken = takenAt.get(record);
          if (taken !== undefined && (taken.node === node || clock.realMs() - taken.atMs > 10)) return false;
          takenAt.set(record, { node, atMs: clock.realMs() });
          record.usedAtMs = nowMs;
          return true;
        },
      }),
    ),
    "code-race-refuses-all: Of several contenders for a code none gets tokens.": decisions(
      (_sound, contenders = counted(), latest = new WeakMap<CodeRecord, number>()) => ({
        takeCode: async (record, { nowMs, clock }) => {
          const contender = contenders(record);
          latest.set(record, contender);
          await clock.pause(4);
          if (latest.get(record) !== 1 || record.usedAtMs !== undefined) return false;
          record.usedAtMs = nowMs;
          return true;
        },
      }),
    ),
  },
  "code.lifetime": {
    "code-dies-a-second-early: A code dies after 599 seconds.": lives(599 * SECOND_MS),
    "code-dies-after-nine-minutes: A code dies after nine minutes.": lives(9 * MINUTE_MS),
    "code-dies-after-one-minute: A code dies after one minute.": lives(MINUTE_MS),
    "code-dies-within-a-second: The lifetime of 600 is taken for milliseconds.": lives(600),
    "code-lives-a-second-longer: A code lives for 601 seconds.": lives(601 * SECOND_MS),
    "code-lives-eleven-minutes: A code lives for eleven minutes.": lives(11 * MINUTE_MS),
    "code-lives-an-hour: A code lives for an hour.": lives(HOUR_MS),
    "code-lives-ten-hours: The lifetime of 600 is taken for minutes.": lives(10 * HOUR_MS),
    "code-lives-for-ever: A code never expires.": [lives(Infinity), "code.lifetime-is-not-extended"],
    "code-swept-every-five-minutes: Expired codes go only when a sweeper comes by, every five minutes.":
      decide("codeIsAlive", (record, { nowMs, limits }) => {
        const sweepMs = 5 * MINUTE_MS;
        const expiresAtMs = record.issuedAtMs + limits.codeLifetimeMs;
        return nowMs < (Math.floor(expiresAtMs / sweepMs) + 1) * sweepMs;
      }),
    "code-counted-from-latest-authorization: A code's ten minutes count from the latest authorization.":
      decisions((sound, latest = new Map<string, number>()) => ({
        keepCode: (record, context) => {
          latest.set(record.clientId, context.nowMs);
          sound.keepCode(record, context);
        },
        codeIsAlive: (record, { nowMs, limits }) =>
          nowMs - (latest.get(record.clientId) ?? 0) < limits.codeLifetimeMs,
      })),
  },
  "code.lifetime-is-not-extended": {
    "code-restarted-by-refused-attempt: Every refused attempt starts the code's ten minutes again.": decide(
      "afterRefusedExchange",
      (record, _kind, { nowMs }) => {
        if (record !== undefined) record.issuedAtMs = nowMs;
      },
    ),
    "code-restarted-by-wrong-secret: An attempt with a wrong secret starts the code's ten minutes again.":
      decisions((sound) => ({
        afterRefusedExchange: (record, kind, context) => {
          sound.afterRefusedExchange(record, kind, context);
          if (
            record !== undefined &&
            kind === "client-unauthenticated" &&
            sound.codeIsAlive(record, context)
          ) {
            record.issuedAtMs = context.nowMs;
          }
        },
      })),
    "code-lengthened-by-refused-attempt: Each refused attempt gives the code another minute.": decisions(
      (sound) => ({
        afterRefusedExchange: (record, kind, context) => {
          sound.afterRefusedExchange(record, kind, context);
          if (record !== undefined && sound.codeIsAlive(record, context)) record.issuedAtMs += MINUTE_MS;
        },
      }),
    ),
    "code-revived-by-trying: An expired code lives again once it is tried.": afterwards(
      "afterRefusedExchange",
      (record, kind, { nowMs }) => {
        if (record !== undefined && kind === "code-expired") record.issuedAtMs = nowMs;
      },
    ),
  },
  "code.independence": {
    "code-use-kills-others-of-client: Using a code kills the other codes of the same client.": decide(
      "afterExchange",
      (record, _tokens, context) => forgetOthers(record, context, ofSameClient),
    ),
    "code-use-kills-those-of-other-clients: Using a code kills the codes of every other client.": decide(
      "afterExchange",
      (record, _tokens, context) =>
        forgetOthers(record, context, (other, used) => !ofSameClient(other, used)),
    ),
    "code-use-kills-older-ones: Using a code kills those that the client got before it.": decide(
      "afterExchange",
      (record, _tokens, context) => {
        const order = [...context.credentials.codes.values()];
        const position = order.indexOf(record);
        forgetOthers(
          record,
          context,
          (other, used) => ofSameClient(other, used) && order.indexOf(other) < position,
        );
      },
    ),
    "code-issue-kills-earlier-ones: A client has one code at a time; a new one replaces it.": afterwards(
      "keepCode",
      (record, context) => {
        forgetOthers(record, context, ofSameClient);
      },
    ),
    "code-refusal-kills-others: An attempt with a wrong secret kills every code of the client.": afterwards(
      "afterRefusedExchange",
      (record, kind, context) => {
        if (kind === "client-unauthenticated") forgetOthers(record, context, ofSameClient);
      },
    ),
    "code-expiry-kills-others: Trying an expired code sweeps away the client's live ones.": decide(
      "afterRefusedExchange",
      (record, kind, context) => {
        if (kind === "code-expired") forgetOthers(record, context, ofSameClient);
      },
    ),
    "code-reuse-kills-others: Presenting a used code again kills the client's unused ones.": afterwards(
      "afterRefusedExchange",
      (record, kind, context) => {
        if (kind === "code-used") forgetOthers(record, context, ofSameClient);
      },
    ),
    "code-one-for-each-state: A new code ends every other one with the same state.": decisions((sound) => ({
      keepCode: (record, context) => {
        for (const [code, other] of context.credentials.codes)
          if (other.state === record.state) context.credentials.codes.delete(code);
        sound.keepCode(record, context);
      },
    })),
    "code-unknown-kills-others: A code that was never issued counts as an attack and ends all codes.":
      afterwards("afterRefusedExchange", (_record, kind, { credentials }) => {
        if (kind === "code-unknown") credentials.codes.clear();
      }),
  },
});
