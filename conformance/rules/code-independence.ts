import type { HistoryVerdict } from "../checks/rule.ts";
import { describe, unlessControlFails } from "../world/exchange.ts";
import { judgeFirstOfMany } from "./shared/many.ts";
import { attemptKinds, attemptWrongly, type AttemptKind } from "./shared/attempts.ts";
import { expectThat, fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import {
  exchangeBody,
  obtainCode,
  present,
  sleepSince,
  timed,
  yielded,
  type IssuedCode,
} from "../world/steps.ts";
import type { Client } from "../world/target.ts";
import { clientsOf, type World } from "../world/world.ts";

/** What happens to one code of a set. */
export interface Fate {
  readonly owner: (typeof clientNames)[number];
  readonly fate: "left alone" | "used" | "used twice" | AttemptKind;
  readonly sameState: boolean;
}

const clientNames = ["first client", "second client"] as const;

const owners = (world: World): readonly Fate["owner"][] => clientNames.slice(0, clientsOf(world).length);

export const disturbances = (world: World): readonly Fate["fate"][] => [
  "used",
  "used twice",
  ...attemptKinds(world),
];

/** One disturbance between an older and a younger code of the same client and one of each other client. */
export const tellingFates = (world: World, fate: Fate["fate"]): readonly (readonly Fate[])[] =>
  [true, false].map((sameState) => [
    { owner: "first client", fate: "left alone", sameState },
    ...owners(world)
      .slice(1)
      .map((owner): Fate => ({ owner, fate: "left alone", sameState })),
    { owner: "first client", fate, sameState },
    { owner: "first client", fate: "left alone", sameState },
  ]);

/** The disturbed codes with one of those left alone, for each of these. */
export const pairsOf = (set: readonly Fate[]): readonly (readonly Fate[])[] =>
  set
    .filter(({ fate }) => fate === "left alone")
    .map((alone) => set.filter((one) => one === alone || one.fate !== "left alone"));

export const printFates = (set: readonly Fate[]): string =>
  set
    .map(
      ({ owner, fate, sameState }) =>
        `a code of the ${owner}${sameState ? " for a shared state" : ""}: ${fate}`,
    )
    .join("; ");

/** Issues the codes, lets their fates happen, and judges that those left alone can be exchanged. */
export const othersGoOnWorking = async (set: readonly Fate[], world: World): Promise<CaseVerdict> => {
  const state = world.target.unique();
  const codes: { readonly fate: Fate["fate"]; readonly issued: IssuedCode }[] = [];
  for (const { owner, fate, sameState } of set) {
    const client = owner === "second client" ? (world.secondClient ?? world.client) : world.client;
    codes.push({ fate, issued: await obtainCodeWith(world, client, sameState ? state : undefined) });
  }
  for (const { fate, issued } of codes) await befall(world, fate, issued);
  for (const { fate, issued } of codes) {
    if (fate !== "left alone") continue;
    const answer = await world.target.exchange(exchangeBody(issued.client, issued.code));
    if ((await yielded(world, answer, issued.client)) === undefined)
      return fail(
        "a code that was not used can be exchanged, whatever happened to other codes",
        `it got ${describe(answer)}`,
      );
  }
  return pass;
};

/** A client may have any number of codes, each independent. */
export const oldestOfManyWorks = (world: World): Promise<HistoryVerdict> =>
  judgeFirstOfMany(
    world,
    () => obtainCode(world),
    () => world.limits.codeLifetimeMs,
    async ({ client, code }) => {
      const answer = await world.target.exchange(exchangeBody(client, code));
      return expectThat(
        (await yielded(world, answer, client)) !== undefined,
        "a code can be exchanged, however many codes its client has obtained since",
        `it got ${describe(answer)}`,
      );
    },
  );

const befall = async (world: World, fate: Fate["fate"], issued: IssuedCode): Promise<void> => {
  if (fate === "left alone") return;
  if (fate !== "used" && fate !== "used twice") return void (await attemptWrongly(world, fate, issued));
  await world.target.exchange(exchangeBody(issued.client, issued.code));
  if (fate === "used twice") await world.target.exchange(exchangeBody(issued.client, issued.code));
};

/** One code expires, and is tried, while younger ones of both clients wait. */
export const othersOutliveExpired = async (sameState: boolean, world: World): Promise<CaseVerdict> => {
  const { codeLifetimeMs } = world.limits;
  const state = sameState ? world.target.unique() : undefined;
  const older = await timed(world, () => obtainCodeWith(world, world.client, state));
  await sleepSince(world, older.at, codeLifetimeMs * 0.6, codeLifetimeMs / 5);
  const younger = await timed(world, async () => {
    const codes: IssuedCode[] = [];
    for (const client of clientsOf(world)) codes.push(await obtainCodeWith(world, client, state));
    return codes;
  });
  await sleepSince(world, younger.at, codeLifetimeMs * 0.42 + 1_000, codeLifetimeMs / 10);
  await present(world, world.client, older.value.code);
  for (const { client, code } of younger.value) {
    const answer = await world.target.exchange(exchangeBody(client, code));
    if ((await yielded(world, answer, client)) === undefined)
      return fail("a code can be exchanged although an older one has expired", `it got ${describe(answer)}`);
  }
  return pass;
};

/** Authorizes with this state, or with a fresh one if there is none or the service accepts each state only once. */
const obtainCodeWith = async (
  world: World,
  client: Client,
  state: string | undefined,
): Promise<IssuedCode> => {
  const issued =
    state === undefined
      ? undefined
      : await unlessControlFails(obtainCode(world, { client, authorize: { state } }), undefined);
  return issued ?? obtainCode(world, { client });
};
