import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { Context, CodeRecord, Grant } from "../context.ts";
import { afterwards, decide, decisions, livesFor, type Replacement, rows } from "../registry.ts";
import { counted } from "./tools.ts";

const lives = (lifetimeMs: number): Replacement => livesFor("codeIsAlive", lifetimeMs);

/** Checks, waits (real milliseconds; 0 is one turn of the event loop), then writes. */
const lookingThenWriting = (realMs: number): Replacement =>
  decide("takeCode", async (record, { nowMs, clock }) => {
    if (record.usedAtMs !== undefined) return false;
    await clock.pause(realMs);
    record.usedAtMs = nowMs;
    return true;
  });

/** Deletes every other code for which `concerned` holds. */
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

/** Allows reuse once `pauseMs` have passed since the first use. */
const reuseAfter = (pauseMs: number): Replacement =>
  decide("takeCode", (record, { nowMs }) => {
    if (record.usedAtMs !== undefined && nowMs - record.usedAtMs < pauseMs) return false;
    record.usedAtMs = nowMs;
    return true;
  });

/** Defects in the life of a code (sections 2.1 and 3.1). */
export const codeDefects = rows({
  "code.single-use": {
    "code-reusable: A code can be exchanged repeatedly.": [
      decide("takeCode", () => true),
      "code.single-use-under-race",
    ],
    "code-reusable-within-two-seconds: A repeated exchange within two seconds counts as a retry and gets tokens.":
      [
        decide("takeCode", (record, { nowMs }) => {
          record.usedAtMs ??= nowMs;
          return nowMs - record.usedAtMs < 2 * SECOND_MS;
        }),
        "code.single-use-under-race",
      ],
    "code-reusable-a-second-later: A code works again one second after its use.": reuseAfter(SECOND_MS),
    "code-reusable-a-minute-later: A code works again one minute after its use.": reuseAfter(MINUTE_MS),
    "code-reusable-twice: A code can be exchanged twice.": decisions((_sound, uses = counted()) => ({
      takeCode: (record, { nowMs }) => {
        record.usedAtMs = nowMs;
        return uses(record) <= 2;
      },
    })),
    "code-reusable-on-third-try: The second exchange is refused but clears the mark, so the third succeeds.":
      afterwards("afterRefusedExchange", (record, kind) => {
        if (record !== undefined && kind === "code-used") record.usedAtMs = undefined;
      }),
    "code-reusable-after-refresh: A refresh restores the grant, including the unused code.": decisions(
      (_sound, codes = new WeakMap<Grant, CodeRecord>()) => ({
        afterExchange: (record, tokens) => void codes.set(tokens.grant, record),
        afterRefresh: (record) => {
          const code = codes.get(record.grant);
          if (code !== undefined) code.usedAtMs = undefined;
        },
      }),
    ),
    "code-reusable-on-another-connection: Used codes are remembered per connection.": [
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
    "code-used-list-of-twenty: Only the twenty latest used codes are remembered.": decisions(
      (_sound, used: string[] = []) => ({
        takeCode: ({ code }) => {
          if (used.includes(code)) return false;
          used.push(code);
          if (used.length > 20) used.shift();
          return true;
        },
      }),
    ),
    "code-marked-as-spelt: A code is found in any spelling but marked as used only in the spelling presented.":
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
    "code-reusable-after-wrong-secret: A wrong secret with a used code makes the code usable again.":
      afterwards("afterRefusedExchange", (record, kind) => {
        if (record !== undefined && kind === "client-unauthenticated") record.usedAtMs = undefined;
      }),
  },
  "code.single-use-under-race": {
    "code-race-of-one-turn: Other requests get one turn between the check and the use of a code.":
      lookingThenWriting(0),
    "code-race-of-one-millisecond: A database takes 1 ms between the check and the use of a code.":
      lookingThenWriting(1),
    "code-race-of-five-milliseconds: A database takes 5 ms between the check and the use of a code.":
      lookingThenWriting(5),
    "code-race-of-twenty-milliseconds: A slow database takes 20 ms between the check and the use of a code.":
      lookingThenWriting(20),
    "code-race-between-nodes: Two nodes learn of each other's redemptions after ten milliseconds.": decisions(
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
    "code-race-refuses-all: If several requests compete for a code, none gets tokens.": decisions(
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
    "code-dies-a-second-early: A code expires after 599 seconds.": lives(599 * SECOND_MS),
    "code-dies-after-nine-minutes: A code expires after nine minutes.": lives(9 * MINUTE_MS),
    "code-dies-after-one-minute: A code expires after one minute.": lives(MINUTE_MS),
    "code-dies-within-a-second: The lifetime of 600 is interpreted as milliseconds.": lives(600),
    "code-lives-a-second-longer: A code works for 601 seconds.": lives(601 * SECOND_MS),
    "code-lives-eleven-minutes: A code works for eleven minutes.": lives(11 * MINUTE_MS),
    "code-lives-an-hour: A code works for an hour.": lives(HOUR_MS),
    "code-lives-ten-hours: The lifetime of 600 is interpreted as minutes.": lives(10 * HOUR_MS),
    "code-lives-for-ever: A code never expires.": [lives(Infinity), "code.lifetime-is-not-extended"],
    "code-swept-every-five-minutes: Expired codes work until they are removed, every five minutes.": decide(
      "codeIsAlive",
      (record, { nowMs, limits }) => {
        const sweepMs = 5 * MINUTE_MS;
        const expiresAtMs = record.issuedAtMs + limits.codeLifetimeMs;
        return nowMs < (Math.floor(expiresAtMs / sweepMs) + 1) * sweepMs;
      },
    ),
    "code-counted-from-latest-authorization: The ten minutes count from the client's latest authorization.":
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
    "code-restarted-by-refused-attempt: Every refused attempt restarts the code's ten minutes.": decide(
      "afterRefusedExchange",
      (record, _kind, { nowMs }) => {
        if (record !== undefined) record.issuedAtMs = nowMs;
      },
    ),
    "code-restarted-by-wrong-secret: An attempt with a wrong secret restarts the code's ten minutes.":
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
    "code-lengthened-by-refused-attempt: Each refused attempt extends the code's life by a minute.":
      decisions((sound) => ({
        afterRefusedExchange: (record, kind, context) => {
          sound.afterRefusedExchange(record, kind, context);
          if (record !== undefined && sound.codeIsAlive(record, context)) record.issuedAtMs += MINUTE_MS;
        },
      })),
    "code-revived-by-trying: An expired code becomes valid again once it is tried.": afterwards(
      "afterRefusedExchange",
      (record, kind, { nowMs }) => {
        if (record !== undefined && kind === "code-expired") record.issuedAtMs = nowMs;
      },
    ),
  },
  "code.independence": {
    "code-use-kills-others-of-client: Using a code invalidates the client's other codes.": decide(
      "afterExchange",
      (record, _tokens, context) => forgetOthers(record, context, ofSameClient),
    ),
    "code-use-kills-those-of-other-clients: Using a code invalidates the codes of all other clients.": decide(
      "afterExchange",
      (record, _tokens, context) =>
        forgetOthers(record, context, (other, used) => !ofSameClient(other, used)),
    ),
    "code-use-kills-older-ones: Using a code invalidates the client's earlier codes.": decide(
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
    "code-refusal-kills-others: An attempt with a wrong secret invalidates all codes of the client.":
      afterwards("afterRefusedExchange", (record, kind, context) => {
        if (kind === "client-unauthenticated") forgetOthers(record, context, ofSameClient);
      }),
    "code-expiry-kills-others: Trying an expired code invalidates the client's live codes.": decide(
      "afterRefusedExchange",
      (record, kind, context) => {
        if (kind === "code-expired") forgetOthers(record, context, ofSameClient);
      },
    ),
    "code-reuse-kills-others: Presenting a used code again invalidates the client's unused ones.": afterwards(
      "afterRefusedExchange",
      (record, kind, context) => {
        if (kind === "code-used") forgetOthers(record, context, ofSameClient);
      },
    ),
    "code-one-for-each-state: A new code invalidates all others with the same state.": decisions((sound) => ({
      keepCode: (record, context) => {
        for (const [code, other] of context.credentials.codes)
          if (other.state === record.state) context.credentials.codes.delete(code);
        sound.keepCode(record, context);
      },
    })),
    "code-unknown-kills-others: Presenting a code that was never issued invalidates all codes.": afterwards(
      "afterRefusedExchange",
      (_record, kind, { credentials }) => {
        if (kind === "code-unknown") credentials.codes.clear();
      },
    ),
  },
});
