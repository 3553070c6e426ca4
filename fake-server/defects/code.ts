import { MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { RefusalKind } from "../answer.ts";
import { counted } from "../changes.ts";
import type { CodeRecord, Context, Grant } from "../context.ts";
import { codes } from "../credentials.ts";
import { afterwards, alsoIf, change, keeping, type Replacement, rows, together } from "../registry.ts";

/** Checks, waits (real milliseconds; 0 is one turn of the event loop), then writes. */
const lookingThenWriting = (realMs: number): Replacement => ({
  takeCode: async (record, { nowMs, clock }) => {
    if (record.usedAtMs !== undefined) return false;
    await clock.pause(realMs);
    record.usedAtMs = nowMs;
    return true;
  },
});

const ofSameClient = (other: CodeRecord, used: CodeRecord): boolean => other.clientId === used.clientId;

/** Deletes every other unused code for which `concerned` holds. */
const forgetOthers = (
  used: CodeRecord | undefined,
  { credentials }: Context,
  concerned: (other: CodeRecord, used: CodeRecord) => boolean = ofSameClient,
): void => {
  if (used === undefined) return;
  for (const [code, other] of credentials.codes)
    if (other !== used && other.usedAtMs === undefined && concerned(other, used))
      credentials.codes.delete(code);
};

/** Marks a code as used if `isFree` holds. */
const takingIf = (isFree: (record: CodeRecord, context: Context) => boolean): Replacement => ({
  takeCode: (record, context) => {
    if (!isFree(record, context)) return false;
    record.usedAtMs = context.nowMs;
    return true;
  },
});

/** Allows reuse once `pauseMs` have passed since the first use. */
const reuseAfter = (pauseMs: number): Replacement =>
  takingIf(({ usedAtMs }, { nowMs }) => usedAtMs === undefined || nowMs - usedAtMs >= pauseMs);

/** Clears the mark of a code after an exchange that is refused for this reason. */
const clearedBy = (reason: RefusalKind): Replacement =>
  afterwards("afterRefusedExchange", (record, kind) => {
    if (record !== undefined && kind === reason) record.usedAtMs = undefined;
  });

/** Forgets the client's other codes after an exchange that is refused for this reason. */
const forgottenBy = (reason: RefusalKind): Replacement =>
  afterwards("afterRefusedExchange", (record, kind, context) => {
    if (kind === reason) forgetOthers(record, context);
  });

/** Defects in the life of a code (sections 2.1 and 3.1). */
export const codeDefects = rows({
  "code.single-use": {
    "code-reusable-a-second-later: A code works again one second after its use.": reuseAfter(SECOND_MS),
    "code-reusable-a-minute-later: A code works again one minute after its use.": reuseAfter(MINUTE_MS),
    "code-reusable-twice: A code can be exchanged twice.": (_sound, uses = counted()) => ({
      takeCode: (record, { nowMs }) => {
        record.usedAtMs = nowMs;
        return uses(record) <= 2;
      },
    }),
    "code-reusable-on-third-try: The second exchange is refused but clears the mark, so the third succeeds.":
      clearedBy("code-used"),
    "code-reusable-after-refresh: A refresh restores the grant, including the unused code.": (
      _sound,
      codes = new WeakMap<Grant, CodeRecord>(),
    ) => ({
      afterExchange: (record, tokens) => void codes.set(tokens.grant, record),
      afterRefresh: (record) => {
        const code = codes.get(record.grant);
        if (code !== undefined) code.usedAtMs = undefined;
      },
    }),
    "code-reusable-on-same-connection: The connection that used a code may use it again.": keeping(
      (users = new WeakMap<CodeRecord, object>()) =>
        change("takeCode", (taken, record, { from }) => {
          if (taken === true) users.set(record, from.socket);
          return users.get(record) === from.socket;
        }),
    ),
    "code-never-granted: No code is ever exchanged.": { takeCode: () => false },
    "code-used-list-of-twenty: Only the twenty latest used codes are remembered.": (
      _sound,
      used: string[] = [],
    ) => ({
      takeCode: ({ code }) => {
        if (used.includes(code)) return false;
        if (used.push(code) > 20) used.shift();
        return true;
      },
    }),
    "code-used-list-of-fifty: Only the fifty latest used codes are remembered.": keeping(
      (used: CodeRecord[] = []) =>
        takingIf((record) => {
          if (used.includes(record)) return false;
          if (used.push(record) > 50) used.shift();
          return true;
        }),
    ),
    "code-marked-as-spelt: A code is found in any spelling but marked as used only in the spelling presented.":
      (sound, uses = counted(new Map()), presented?: unknown) => ({
        findCode: (value, context) => {
          presented = value;
          return sound.findCode(typeof value === "string" ? value.trim() : value, context);
        },
        takeCode: () => uses(presented) === 1,
      }),
    "code-reusable-once-tokens-expired: A code can be used again once its tokens have expired.": together(
      change(
        "takeCode",
        (taken, { usedAtMs }, { nowMs, limits }) =>
          taken === true || nowMs - (usedAtMs ?? nowMs) > limits.accessTokenLifetimeMs,
      ),
      alsoIf("codeIsAlive", ({ usedAtMs }) => usedAtMs !== undefined),
    ),
    "code-reusable-nine-minutes-later: Used codes are remembered for only nine minutes.": reuseAfter(
      9 * MINUTE_MS,
    ),
    "code-reusable-at-tenth-attempt: The tenth exchange of a code succeeds.": keeping((refused = counted()) =>
      change("takeCode", (taken, record) => taken === true || refused(record) === 9),
    ),
    "code-reusable-after-wrong-secret: A wrong secret with a used code makes the code usable again.":
      clearedBy("client-unauthenticated"),
  },
  "code.single-use code.single-use-under-race": {
    "code-reusable: A code can be exchanged repeatedly.": { takeCode: () => true },
    "code-reusable-within-two-seconds: A repeated exchange within two seconds counts as a retry and gets tokens.":
      {
        takeCode: (record, { nowMs }) => {
          record.usedAtMs ??= nowMs;
          return nowMs - record.usedAtMs < 2 * SECOND_MS;
        },
      },
    "code-reusable-on-another-connection: Used codes are remembered per connection.": keeping(
      (used = new WeakMap<CodeRecord, WeakSet<object>>()) =>
        takingIf((record, { from }) => {
          const connections = used.get(record) ?? new WeakSet();
          const isFree = !connections.has(from.socket);
          used.set(record, connections.add(from.socket));
          return isFree;
        }),
    ),
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
    "code-race-between-nodes: Two nodes learn of each other's redemptions after ten milliseconds.": keeping(
      (
        nodes = new WeakMap<object, number>(),
        takenAt = new WeakMap<CodeRecord, { readonly node: number; readonly atMs: number }>(),
        connections = 0,
      ) =>
        takingIf((record, { from, clock }) => {
          const node = nodes.get(from.socket) ?? (connections += 1) % 2;
          nodes.set(from.socket, node);
          const taken = takenAt.get(record);
          if (taken !== undefined && (taken.node === node || clock.realMs() - taken.atMs > 10)) return false;
          takenAt.set(record, { node, atMs: clock.realMs() });
          return true;
        }),
    ),
    "code-race-refuses-all: If several requests compete for a code, none gets tokens.": (
      _sound,
      contenders = counted(),
      latest = new WeakMap<CodeRecord, number>(),
    ) => ({
      takeCode: async (record, { nowMs, clock }) => {
        const contender = contenders(record);
        latest.set(record, contender);
        await clock.pause(4);
        if (latest.get(record) !== 1 || record.usedAtMs !== undefined) return false;
        record.usedAtMs = nowMs;
        return true;
      },
    }),
  },
  "code.independence": {
    "code-use-kills-others-of-client: Using a code invalidates the client's other codes.": {
      afterExchange: (record, _tokens, context) => forgetOthers(record, context),
    },
    "code-use-kills-those-of-other-clients: Using a code invalidates the codes of all other clients.": {
      afterExchange: (record, _tokens, context) =>
        forgetOthers(record, context, (other, used) => !ofSameClient(other, used)),
    },
    "code-use-kills-older-ones: Using a code invalidates the client's earlier codes.": {
      afterExchange: (record, _tokens, context) => {
        const order = [...context.credentials.codes.values()];
        const earlier = order.slice(0, Math.max(0, order.indexOf(record)));
        forgetOthers(record, context, (other, used) => ofSameClient(other, used) && earlier.includes(other));
      },
    },
    "code-issue-kills-earlier-ones: A client has one code at a time; a new one replaces it.": afterwards(
      "keepCode",
      (record, context) => forgetOthers(record, context),
    ),
    "code-refusal-kills-others: An attempt with a wrong secret invalidates all codes of the client.":
      forgottenBy("client-unauthenticated"),
    "code-expiry-kills-others: Trying an expired code invalidates the client's live codes.": {
      afterRefusedExchange: (record, kind, context) => {
        if (kind === "code-expired") forgetOthers(record, context);
      },
    },
    "code-reuse-kills-others: Presenting a used code again invalidates the client's unused ones.":
      forgottenBy("code-used"),
    "codes-thirty-of-a-client: A client has at most thirty codes; a new one invalidates the oldest.":
      codes.areAtMost(30),
    "code-one-for-each-state: A new code invalidates all others with the same state.": (sound) => ({
      keepCode: (record, context) => {
        for (const [code, other] of context.credentials.codes)
          if (other.state === record.state) context.credentials.codes.delete(code);
        sound.keepCode(record, context);
      },
    }),
    "code-unknown-kills-others: Presenting a code that was never issued invalidates all codes.": afterwards(
      "afterRefusedExchange",
      (_record, kind, { credentials }) => {
        if (kind === "code-unknown") credentials.codes.clear();
      },
    ),
  },
});
