import type { Behaviour } from "../behaviour.ts";
import type { Context } from "../context.ts";
import type { CodeRecord, Grant } from "../credentials.ts";
import { type Defect, defect } from "../registry.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "./tools.ts";

/** Codes that live for `lifetimeMs`. */
const livingFor = (lifetimeMs: number) => (): Pick<Behaviour, "codeIsAlive"> => ({
  codeIsAlive: (record, { nowMs }) => nowMs - record.issuedAtMs < lifetimeMs,
});

/** Redemption that looks, waits (real milliseconds; 0 is one turn of the event loop), and then writes. */
const lookingThenWriting = (realMs: number) => (): Pick<Behaviour, "takeCode"> => ({
  takeCode: async (record, { nowMs, clock }) => {
    if (record.usedAtMs !== undefined) return false;
    await clock.pause(realMs);
    record.usedAtMs = nowMs;
    return true;
  },
});

/** Every other code that `concerned` holds for is gone. */
const forgetOthers = (
  used: CodeRecord | undefined,
  { credentials }: Context,
  concerned: (other: CodeRecord, used: CodeRecord) => boolean,
): void => {
  if (used === undefined) return;
  for (const [code, other] of credentials.codes) {
    if (other !== used && other.usedAtMs === undefined && concerned(other, used)) {
      credentials.codes.delete(code);
    }
  }
};

const ofSameClient = (other: CodeRecord, used: CodeRecord): boolean => other.clientId === used.clientId;

/** Reuse allowed again once `pauseMs` have passed since the first use. */
const reuseAfter = (pauseMs: number) => (): Pick<Behaviour, "takeCode"> => ({
  takeCode: (record, { nowMs }) => {
    if (record.usedAtMs !== undefined && nowMs - record.usedAtMs < pauseMs) return false;
    record.usedAtMs = nowMs;
    return true;
  },
});

/** The life of a code (sections 2.1 and 3.1) gone wrong. */
export const codeDefects = {
  "code-reusable": defect(
    "A code can be exchanged again and again.",
    ["code.single-use", "code.single-use-under-race"],
    () => ({ takeCode: () => true }),
  ),
  "code-reusable-within-two-seconds": defect(
    "For two seconds a repeated exchange is taken for a retry and gets tokens.",
    ["code.single-use", "code.single-use-under-race"],
    () => ({
      takeCode: (record, { nowMs }) => {
        record.usedAtMs ??= nowMs;
        return nowMs - record.usedAtMs < 2 * SECOND_MS;
      },
    }),
  ),
  "code-reusable-a-second-later": defect(
    "The mark of a used code is forgotten after a second.",
    ["code.single-use"],
    reuseAfter(SECOND_MS),
  ),
  "code-reusable-a-minute-later": defect(
    "The mark of a used code is forgotten after a minute.",
    ["code.single-use"],
    reuseAfter(MINUTE_MS),
  ),
  "code-reusable-twice": defect("A code can be exchanged twice.", ["code.single-use"], () => {
    const uses = new WeakMap<CodeRecord, number>();
    return {
      takeCode: (record, { nowMs }) => {
        record.usedAtMs = nowMs;
        uses.set(record, (uses.get(record) ?? 0) + 1);
        return (uses.get(record) ?? 0) <= 2;
      },
    };
  }),
  "code-reusable-on-third-try": defect(
    "The second exchange of a code is refused and clears its mark, so the third succeeds.",
    ["code.single-use"],
    (sound) => ({
      afterRefusedExchange: (record, kind, context) => {
        sound.afterRefusedExchange(record, kind, context);
        if (record !== undefined && kind === "code-used") record.usedAtMs = undefined;
      },
    }),
  ),
  "code-reusable-after-refresh": defect(
    "A refresh restores the grant as it was, the unused code included.",
    ["code.single-use"],
    () => {
      const codes = new WeakMap<Grant, CodeRecord>();
      return {
        afterExchange: (record, tokens) => void codes.set(tokens.grant, record),
        afterRefresh: (record) => {
          const code = codes.get(record.grant);
          if (code !== undefined) code.usedAtMs = undefined;
        },
      };
    },
  ),
  "code-reusable-on-another-connection": defect(
    "Used codes are remembered for each connection by itself.",
    ["code.single-use", "code.single-use-under-race"],
    () => {
      const used = new WeakMap<CodeRecord, WeakSet<object>>();
      return {
        takeCode: (record, { nowMs, from }) => {
          const connections = used.get(record) ?? new WeakSet();
          used.set(record, connections);
          if (connections.has(from.socket)) return false;
          connections.add(from.socket);
          record.usedAtMs = nowMs;
          return true;
        },
      };
    },
  ),
  "code-reusable-on-same-connection": defect(
    "The connection that used a code may use it again.",
    ["code.single-use"],
    () => {
      const users = new WeakMap<CodeRecord, object>();
      return {
        takeCode: (record, { nowMs, from }) => {
          if (record.usedAtMs !== undefined) return users.get(record) === from.socket;
          record.usedAtMs = nowMs;
          users.set(record, from.socket);
          return true;
        },
      };
    },
  ),

  "code-race-of-one-turn": defect(
    "Between the look at a code and its use other requests get one turn.",
    ["code.single-use-under-race"],
    lookingThenWriting(0),
  ),
  "code-race-of-one-millisecond": defect(
    "Between the look at a code and its use a database takes one millisecond.",
    ["code.single-use-under-race"],
    lookingThenWriting(1),
  ),
  "code-race-of-five-milliseconds": defect(
    "Between the look at a code and its use a database takes five milliseconds.",
    ["code.single-use-under-race"],
    lookingThenWriting(5),
  ),
  "code-race-of-twenty-milliseconds": defect(
    "Between the look at a code and its use a slow database takes twenty milliseconds.",
    ["code.single-use-under-race"],
    lookingThenWriting(20),
  ),
  "code-race-between-nodes": defect(
    "Connections are spread over two nodes that hear of each other's redemptions ten milliseconds later.",
    ["code.single-use-under-race"],
    () => {
      const nodes = new WeakMap<object, number>();
      const takenAt = new WeakMap<CodeRecord, { readonly node: number; readonly atMs: number }>();
      let connections = 0;
      return {
        takeCode: (record, { nowMs, from, clock }) => {
          const node = nodes.get(from.socket) ?? (connections += 1) % 2;
          nodes.set(from.socket, node);
          const taken = takenAt.get(record);
          if (taken !== undefined && (taken.node === node || clock.realMs() - taken.atMs > 10)) return false;
          takenAt.set(record, { node, atMs: clock.realMs() });
          record.usedAtMs = nowMs;
          return true;
        },
      };
    },
  ),

  "code-dies-a-second-early": defect(
    "A code dies after 599 seconds.",
    ["code.lifetime"],
    livingFor(599 * SECOND_MS),
  ),
  "code-dies-after-nine-minutes": defect(
    "A code dies after nine minutes.",
    ["code.lifetime"],
    livingFor(9 * MINUTE_MS),
  ),
  "code-dies-after-one-minute": defect(
    "A code dies after one minute.",
    ["code.lifetime"],
    livingFor(MINUTE_MS),
  ),
  "code-dies-within-a-second": defect(
    "The lifetime of 600 is taken for milliseconds.",
    ["code.lifetime"],
    livingFor(600),
  ),
  "code-lives-a-second-longer": defect(
    "A code lives for 601 seconds.",
    ["code.lifetime"],
    livingFor(601 * SECOND_MS),
  ),
  "code-lives-eleven-minutes": defect(
    "A code lives for eleven minutes.",
    ["code.lifetime"],
    livingFor(11 * MINUTE_MS),
  ),
  "code-lives-an-hour": defect("A code lives for an hour.", ["code.lifetime"], livingFor(HOUR_MS)),
  "code-lives-ten-hours": defect(
    "The lifetime of 600 is taken for minutes.",
    ["code.lifetime"],
    livingFor(10 * HOUR_MS),
  ),
  "code-lives-for-ever": defect(
    "A code never expires.",
    ["code.lifetime", "code.lifetime-is-not-extended"],
    livingFor(Infinity),
  ),
  "code-swept-every-five-minutes": defect(
    "Expired codes go only when a sweeper comes by, every five minutes.",
    ["code.lifetime"],
    () => ({
      codeIsAlive: (record, { nowMs, limits }) => {
        const sweepMs = 5 * MINUTE_MS;
        const expiresAtMs = record.issuedAtMs + limits.codeLifetimeMs;
        return nowMs < (Math.floor(expiresAtMs / sweepMs) + 1) * sweepMs;
      },
    }),
  ),

  "code-restarted-by-refused-attempt": defect(
    "Every refused attempt starts the code's ten minutes again.",
    ["code.lifetime-is-not-extended"],
    () => ({
      afterRefusedExchange: (record, _kind, { nowMs }) => {
        if (record !== undefined) record.issuedAtMs = nowMs;
      },
    }),
  ),
  "code-restarted-by-wrong-secret": defect(
    "An attempt with a wrong secret starts the code's ten minutes again.",
    ["code.lifetime-is-not-extended"],
    (sound) => ({
      afterRefusedExchange: (record, kind, context) => {
        sound.afterRefusedExchange(record, kind, context);
        if (record !== undefined && kind === "client-unauthenticated" && sound.codeIsAlive(record, context)) {
          record.issuedAtMs = context.nowMs;
        }
      },
    }),
  ),
  "code-lengthened-by-refused-attempt": defect(
    "Each refused attempt gives the code another minute.",
    ["code.lifetime-is-not-extended"],
    (sound) => ({
      afterRefusedExchange: (record, kind, context) => {
        sound.afterRefusedExchange(record, kind, context);
        if (record !== undefined && sound.codeIsAlive(record, context)) record.issuedAtMs += MINUTE_MS;
      },
    }),
  ),

  "code-use-kills-others-of-client": defect(
    "Using a code kills the other codes of the same client.",
    ["code.independence"],
    () => ({ afterExchange: (record, _tokens, context) => forgetOthers(record, context, ofSameClient) }),
  ),
  "code-use-kills-those-of-other-clients": defect(
    "Using a code kills the codes of every other client.",
    ["code.independence"],
    () => ({
      afterExchange: (record, _tokens, context) =>
        forgetOthers(record, context, (other, used) => !ofSameClient(other, used)),
    }),
  ),
  "code-use-kills-older-ones": defect(
    "Using a code kills those that the client got before it.",
    ["code.independence"],
    () => ({
      afterExchange: (record, _tokens, context) => {
        const order = [...context.credentials.codes.values()];
        const position = order.indexOf(record);
        forgetOthers(
          record,
          context,
          (other, used) => ofSameClient(other, used) && order.indexOf(other) < position,
        );
      },
    }),
  ),
  "code-issue-kills-earlier-ones": defect(
    "A client has one code at a time; a new one replaces it.",
    ["code.independence"],
    (sound) => ({
      keepCode: (record, context) => {
        sound.keepCode(record, context);
        forgetOthers(record, context, ofSameClient);
      },
    }),
  ),
  "code-refusal-kills-others": defect(
    "An attempt with a wrong secret kills every code of the client.",
    ["code.independence"],
    (sound) => ({
      afterRefusedExchange: (record, kind, context) => {
        sound.afterRefusedExchange(record, kind, context);
        if (kind === "client-unauthenticated") forgetOthers(record, context, ofSameClient);
      },
    }),
  ),
  "code-expiry-kills-others": defect(
    "Trying an expired code sweeps away the client's live ones.",
    ["code.independence"],
    () => ({
      afterRefusedExchange: (record, kind, context) => {
        if (kind === "code-expired") forgetOthers(record, context, ofSameClient);
      },
    }),
  ),
  "code-reuse-kills-others": defect(
    "Presenting a used code again kills the client's unused ones.",
    ["code.independence"],
    (sound) => ({
      afterRefusedExchange: (record, kind, context) => {
        sound.afterRefusedExchange(record, kind, context);
        if (kind === "code-used") forgetOthers(record, context, ofSameClient);
      },
    }),
  ),
} satisfies Record<string, Defect>;
