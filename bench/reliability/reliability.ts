import { k6ForTests } from "../../scenarios/runner/testing/k6.ts";
import { figure, mebibytes } from "../../conformance/testing/measure.ts";
import { killRuns } from "../../conformance/testing/reliability/killed.ts";
import { plantSecrets } from "../../conformance/testing/reliability/planted.ts";
import { subjects } from "./killed-subjects.ts";
import { runEverythingElse } from "./planted-more.ts";
import { tryPushRun } from "./try-push-run.ts";
import { tryClient } from "./try-client.ts";
import { tryFake } from "./try-fake.ts";
import { hostileGates, tryGates } from "./try-gate.ts";
import { tryReceiver } from "./try-receiver.ts";

const SEED = 20_261_121;
/** TOUCHSTONE_RELIABILITY=0.01 tries that share of all. */
const SHARE = Number(process.env["TOUCHSTONE_RELIABILITY"] ?? "1");
const inputs = { client: 4_000, fake: 3_000, receiver: 3_000 } as const;
const kills = { gate: 30, load: 20, receiver: 25, duet: 5, ledger: 20 } satisfies Record<
  keyof typeof subjects,
  number
>;

const shareOf = (all: number): number => Math.ceil(all * SHARE);

const complain = (wrong: readonly string[]): void => {
  for (const one of wrong.slice(0, 20)) process.stdout.write(`  ${one}\n`);
};

/** Hostile inputs, kills and secrets: how many were tried, and how many went wrong. */
export const reliability = async (): Promise<void> => {
  const { path: k6 } = await k6ForTests();
  const tried = [
    ["client", await tryClient(shareOf(inputs.client), SEED)],
    ["fake", await tryFake(shareOf(inputs.fake), SEED)],
    ["receiver", await tryReceiver(shareOf(inputs.receiver), SEED)],
  ] as const;
  for (const [who, { inputs: count, wrong }] of tried) {
    figure(`hostile inputs to the ${who} handled wrongly, of ${count}`, String(wrong.length), "0");
    complain(wrong);
  }
  for (const [kind, open] of Object.entries(subjects)) {
    const most = shareOf(kills[kind as keyof typeof subjects]);
    const { kills: count, tooLate, wrong } = await killRuns(kind, open, most, { seed: SEED, k6 });
    figure(
      `kills of ${kind} runs survived, of ${count} (${tooLate} had ended before)`,
      String(count - new Set(wrong.map((one) => one.split(":")[0])).size),
      String(most),
    );
    complain(wrong);
  }
  const { secrets, bytes, runs, found } = await plantSecrets(k6, runEverythingElse);
  figure(`secrets found, of ${secrets} in ${bytes} bytes that ${runs} runs wrote`, String(found.length), "0");
  complain(found);
  const all = hostileGates(SEED, 1);
  const gates = await tryGates(all.slice(0, shareOf(all.length)));
  figure(`gates on hostile targets gone wrong, of ${gates.inputs}`, String(gates.wrong.length), "0");
  complain(gates.wrong);
  const { sent, verdicts } = await tryPushRun("sound", SEED);
  const failed = Object.entries(verdicts).filter(
    ([id, { kind }]) => id !== "push.payload" && (kind === "failed" || kind === "harness-error"),
  );
  figure(`push rules failed beside ${sent} hostile requests to the receiver`, String(failed.length), "0");
  complain(failed.map(([id, { kind }]) => `${id}: ${kind}`));
  figure(
    "memory high-water mark of clients, servers and hostile peers together",
    mebibytes(process.resourceUsage().maxRSS * 1_024),
    "bounded",
  );
};
