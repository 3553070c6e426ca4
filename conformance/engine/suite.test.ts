import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFakeServer, type FakeServer } from "../../fake-server/index.ts";
import { profileOf, secretsOf } from "../../fake-server/serve.ts";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { conform, type ConformOptions } from "./conform.ts";
import { requestsOf } from "../checks/effort.ts";
import { requirement } from "../contract/catalogue.ts";
import { parseDuration } from "../contract/duration.ts";
import { waived } from "../contract/outcome.ts";
import type { RuleResult } from "../contract/record.ts";
import { checkProfile, loadProfile, resolveProfile, type ResolvedProfile } from "../profile/profile.ts";
import { rules } from "../rules/index.ts";
import { countersOf } from "../testing/fake.ts";
import { effortOf } from "../../commands/shared/flags.ts";
import { complaintOf, endedWith, skippedBecause } from "./testing/suite-words.ts";

/**
 * The same rules under Vitest, one test a rule, all judged once and together:
 * `npx vitest run --project conformance`. The target comes from the environment:
 * TOUCHSTONE_PROFILE (the embedded fake where unset), TOUCHSTONE_EFFORT, TOUCHSTONE_SEED,
 * TOUCHSTONE_MAX_WAIT.
 */
const { TOUCHSTONE_PROFILE, TOUCHSTONE_EFFORT, TOUCHSTONE_SEED, TOUCHSTONE_MAX_WAIT } = process.env;

const stopping: (() => Promise<void>)[] = [];
let fake: FakeServer | undefined;

const resolveTarget = async (): Promise<ResolvedProfile> => {
  if (TOUCHSTONE_PROFILE !== undefined) return loadProfile(TOUCHSTONE_PROFILE, process.env);
  fake = await startFakeServer();
  stopping.push(fake.stop);
  return resolveProfile(checkProfile(profileOf(fake)), secretsOf(fake));
};

/** The receiver that the profile attaches, or one started here. */
const receiverFor = async ({ receiver }: ResolvedProfile): Promise<ConformOptions["receiver"]> => {
  if (receiver?.kind === "attach") return receiver;
  const started = await startReceiver(receiver ?? {});
  stopping.push(started.stop);
  return started;
};

const sent = { all: 0, refused: 0 };
const sink: ConformOptions["sink"] = {
  write: ({ isPush, answer }) => {
    if (isPush === true) return;
    sent.all += 1;
    if (answer !== undefined && answer.status >= 400) sent.refused += 1;
  },
};

let results: ReadonlyMap<string, RuleResult>;
let excused: ReadonlySet<string>;

const judge = async () => {
  const resolved = await resolveTarget();
  return conform({
    resolved,
    receiver: await receiverFor(resolved),
    rules,
    sink,
    effort: effortOf({ effort: TOUCHSTONE_EFFORT ?? "quick" }),
    seed: Number(TOUCHSTONE_SEED ?? 1),
    strict: false,
    today: new Date().toISOString().slice(0, 10),
    maxWaitMs: parseDuration(TOUCHSTONE_MAX_WAIT ?? "20m") ?? 0,
    signal: new AbortController().signal,
    freshUuid: randomUUID,
  });
};

beforeAll(async () => {
  const outcome = await judge().catch((error: unknown) => {
    throw endedWith(error);
  });
  results = new Map(outcome.results.map((result) => [result.id, result]));
  excused = waived(outcome.waivers);
});

afterAll(async () => {
  await Promise.all(stopping.map((stop) => stop()));
});

describe("the service keeps the promises of its document", () => {
  it.for(rules.map((rule) => rule.requirement))("%s", (id, { skip }) => {
    const result = results.get(id);
    if (result === undefined) throw new Error("the rule has no result");
    if (excused.has(id)) skip("its breach is waived by the profile");
    expect(complaintOf(result), requirement(id).sentence).toBeUndefined();
    const reason = skippedBecause(result);
    if (reason !== undefined) skip(reason);
  });
});

const isOwnGate = TOUCHSTONE_PROFILE === undefined && TOUCHSTONE_EFFORT === undefined;

it.runIf(isOwnGate)("the whole gate moves the embedded fake's clock at most 150 times", async () => {
  const clockMoves = fake === undefined ? 0 : (await countersOf(fake)).clockMoves;
  expect(clockMoves).toBeGreaterThan(20);
  expect(clockMoves).toBeLessThanOrEqual(150);
});

it.runIf(isOwnGate)("the whole gate sends about as many requests as doctor says", () => {
  for (const which of ["all", "refused"] as const)
    expect(Math.abs(sent[which] / requestsOf.quick[which] - 1)).toBeLessThan(0.2);
});
