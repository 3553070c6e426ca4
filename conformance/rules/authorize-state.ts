import { describe, grantOf, type Answer } from "../world/exchange.ts";
import { foreignProbes, placed, type ForeignProbe, encodedThroughout } from "../arbitraries/state.ts";
import { requirement } from "../contract/catalogue.ts";
import { counted } from "../contract/text.ts";
import { expectThat, pass } from "../judging/case-verdict.ts";
import type { HistoryVerdict, Rules } from "../checks/rule.ts";
import { answerOrRefusal, obtainCode, redeem, yieldedCode } from "../world/steps.ts";
import type { World } from "../world/world.ts";
import { areRefused, untested, type Refusal, type Wrong } from "./refusals.ts";

const PROBES_PER_CONTROL = 12;

/** Which characters a state may have, and how many (sections 2.1 and 8). */
export const stateRules = {
  "authorize.state-charset": (_world, run) =>
    run.all([
      areRefused(run, withForeign, foreignProbes(run.seed, run.effort !== "quick").map(foreign), {
        part: "listed",
        size: PROBES_PER_CONTROL,
      }),
      areRefused(run, withSecondState, secondStates, { part: "second" }),
    ]),

  "authorize.state-length": (world, run) => {
    const most = world.limits.stateMaxBytes;
    return run.all([
      run.forEach(
        // Consecutive entries at an even index go to different clients.
        [1, 2, Math.ceil(most / 2), most - 1, most, most],
        async (length, caseWorld) => {
          const answer = await authorizeWith(caseWorld, stateOf(caseWorld, length));
          return expectThat(
            await yieldedCode(caseWorld, answer),
            `a state of ${counted(length, "byte")} is accepted, like every state of 1 to ${most} bytes`,
            `it got no usable code: ${describe(answer)}`,
          );
        },
        { part: "accepted", print: (length) => counted(length, "byte") },
      ),
      run.forEach(
        [
          ...[1, 1, 2, 3, 7, most / 2, most - 1, most, most + 1, 2 * most + 9, 900, 8_000 - most].map(
            (more) => ({ length: most + Math.round(more), of: undefined }),
          ),
          ...["1234567890", "a"].flatMap((of) => [1, most].map((more) => ({ length: most + more, of }))),
        ],
        async ({ length, of }, caseWorld) => {
          const state = of?.repeat(length).slice(0, length) ?? stateOf(caseWorld, length);
          // The truncated state goes first, to expose a service that remembers only the beginning of states.
          await twinSucceeds(caseWorld, state.slice(0, most));
          const answer = await answerOrRefusal(() => authorizeWith(caseWorld, state));
          return expectThat(
            !(await yieldedCode(caseWorld, answer)),
            `a state of ${length} bytes, more than ${most}, is refused`,
            "it got a code that can be exchanged",
          );
        },
        {
          part: "refused",
          print: ({ length, of }) => `${counted(length, "byte")}${of === undefined ? "" : `, only of ${of}`}`,
        },
      ),
      run.once(judgeReadings, { part: "readings" }),
    ]);
  },
} satisfies Rules;

const nameOf = ({ name, position }: ForeignProbe): string =>
  position === "alone" ? `${name}, alone` : `${name}, at the ${position}`;

const onlyAllowed = {
  expected: "a state with any character outside a-z, A-Z, 0-9 is refused",
  right: () => Promise.resolve(undefined),
  control: (world: World) => twinSucceeds(world),
};

const foreign = (probe: ForeignProbe): Wrong<undefined, ForeignProbe> => ({
  name: nameOf(probe),
  of: () => probe,
});

const gotCode = "it got a code that can be exchanged";

/** A request that the service saw without a state need not be refused. */
const withForeign: Refusal<undefined, ForeignProbe> = {
  ...onlyAllowed,
  gain: async (world, _right, probe) => {
    const state = placed(world.target.unique(), probe.raw, probe.position, world.limits.stateMaxBytes);
    const answer = await answerOrRefusal(() => authorizeWith(world, state, probe.bare));
    if (answer !== undefined && carriesNoState(answer) && mayBeDropped(probe, state)) return untested;
    return (await yieldedCode(world, answer)) ? gotCode : undefined;
  },
};

const carriesNoState = (answer: Answer): boolean => {
  const grant = grantOf(answer);
  return grant !== undefined && (grant.state ?? "") === "";
};

/** Some parsers drop a parameter that is not well-formed (Go, Tomcat), or is blank (ASP.NET Core), without a word. */
const mayBeDropped = ({ position }: ForeignProbe, state: string): boolean => {
  try {
    const text = decodeURIComponent(state.replaceAll("+", " "));
    return position === "alone" && text.trim() === "";
  } catch {
    return true;
  }
};

const secondStates = (["before", "behind"] as const).map((place) => ({
  name: `a state with a dash, ${place} one that is allowed`,
  of: () => place,
}));

/**
 * How a repeated parameter is answered is not shown. But whichever of the two is taken as the state, it must not be one
 * that is refused on its own.
 */
const withSecondState: Refusal<undefined, "before" | "behind"> = {
  ...onlyAllowed,
  gain: async (world, _right, place) => {
    const bad = `${world.target.unique()}-`;
    const query = queryWith(world, world.target.unique());
    const rawQuery = place === "before" ? `state=${bad}&${query}` : `${query}&state=${bad}`;
    const answer = await answerOrRefusal(() => world.target.authorize({ rawQuery }));
    const taken = answer === undefined ? undefined : grantOf(answer)?.state;
    return taken === bad && (await yieldedCode(world, answer)) ? gotCode : undefined;
  },
};

/** The control: the same request with an allowed state gets a working code. */
const twinSucceeds = async (world: World, state = world.target.unique()): Promise<void> => {
  const { code } = await obtainCode(world, { authorize: { state } });
  await redeem(world, code);
};

/** Sends the state byte for byte, before the address, so that nothing after it is lost unnoticed. */
const queryWith = (world: World, rawState: string): string =>
  `clientId=${encodeURIComponent(world.client.id)}&state=${rawState}&redirectUri=${encodeURIComponent(world.client.redirectUri)}`;

/** `isBare` says that no HTTP client writes it. */
const authorizeWith = async (world: World, rawState: string, isBare = false): Promise<Answer> => {
  const rawQuery = queryWith(world, rawState);
  if (!isBare) return world.target.authorize({ rawQuery });
  const connection = world.target.dedicated();
  try {
    return await connection.authorize({ rawQuery });
  } finally {
    await connection.close();
  }
};

const stateOf = (world: World, length: number): string =>
  world.target.unique().padEnd(length, "aZ09").slice(-length);

type Reading = "bytes-after-decoding" | "bytes-before-decoding";

interface EncodedState {
  readonly letters: number;
  /** How many of the letters are percent-encoded. */
  readonly encoded: number;
}

const bytesIn = ({ letters, encoded }: EncodedState, reading: Reading): number =>
  reading === "bytes-after-decoding" ? letters : letters + 2 * encoded;

/**
 * Percent-encoded letters show whether bytes are counted before or after decoding. A service that accepts no encoded
 * letter at all (they never need encoding) shows nothing.
 */
const judgeReadings = async (world: World): Promise<HistoryVerdict> => {
  const most = world.limits.stateMaxBytes;
  const third = Math.floor(most / 3);
  const named = Object.keys(requirement("authorize.state-length").readings ?? {}) as Reading[];
  const accepts = async ({ letters, encoded }: EncodedState): Promise<boolean> => {
    const state = stateOf(world, letters);
    const raw = encodedThroughout(state.slice(0, encoded)) + state.slice(encoded);
    return yieldedCode(world, await answerOrRefusal(() => authorizeWith(world, raw)));
  };
  if (!(await accepts({ letters: third, encoded: third }))) {
    await twinSucceeds(world);
    return { ...pass, cases: 1, facts: { encodedLetters: "refused", readings: named } };
  }
  const probes: readonly EncodedState[] = [
    { letters: third + 1, encoded: third + 1 },
    { letters: most, encoded: 1 },
    { letters: most, encoded: most },
    { letters: most + 1, encoded: 1 },
    { letters: most + 1, encoded: most + 1 },
  ];
  const seen: { probe: EncodedState; accepted: boolean }[] = [];
  for (const probe of probes) seen.push({ probe, accepted: await accepts(probe) });
  const left = named.filter((reading) =>
    seen.every(({ probe, accepted }) => accepted === bytesIn(probe, reading) <= most),
  );
  const story = seen
    .map(
      ({ probe: { letters, encoded }, accepted }) =>
        `${letters} letters of which ${encoded} percent-encoded: ${accepted ? "accepted" : "refused"}`,
    )
    .join("; ");
  const expected = `the ${most} bytes are counted either before or after percent-decoding`;
  return {
    ...expectThat(left.length > 0, expected, story),
    cases: seen.length,
    facts: { encodedLetters: "accepted", readings: left },
  };
};
