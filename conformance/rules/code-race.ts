import { fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { anomalyOf, type Anomaly } from "../judging/laws/one-shot.ts";
import { raceForCode, type Connections, type Start } from "./shared/race.ts";
import type { World } from "../world/world.ts";

const patterns = (lane: number): readonly (readonly Start[])[] => [
  [0, 0],
  [0, 0, 0],
  [0, lane % 2 === 0 ? 1 : 2],
  lane % 2 === 0 ? [0, 1, 2] : [0, 4, 12],
  [0, lane % 4 < 2 ? 0 : "after the first", "after the first"],
];

/** What the rounds met, counted over all lanes. */
export interface Met {
  rounds: number;
  unanswered: number;
  roundsWithoutWinner: number;
}

/** Five rounds over the same connections, whose roles change from lane to lane. Stops at the first anomaly. */
export const raceInLane = async (
  world: World,
  connections: Connections,
  lane: number,
  met: Met,
): Promise<CaseVerdict> => {
  const turned = connections.map(
    (_, at) => connections[(at + lane) % connections.length] as Connections[number],
  );
  for (const starts of patterns(lane)) {
    const anomaly = await anomalyOfRound(world, turned, starts, met);
    if (anomaly !== undefined) return fail(linearizable, seen[anomaly](starts.length));
  }
  return pass;
};

/**
 * A round without a winner may be a deadlock that the service resolved, which the document does not forbid. Three in a
 * row are a breach: then the first exchange of a code does not succeed.
 */
const anomalyOfRound = async (
  world: World,
  connections: Connections,
  starts: readonly Start[],
  met: Met,
): Promise<Anomaly | undefined> => {
  for (let again = 1; ; again += 1) {
    const history = await raceForCode(world, connections, starts);
    met.rounds += 1;
    met.unanswered += history.filter(({ outcome }) => outcome === "unknown").length;
    const anomaly = anomalyOf(history);
    if (anomaly !== "never-granted") return anomaly;
    met.roundsWithoutWinner += 1;
    if (again === 3) return anomaly;
  }
};

const linearizable =
  "of several exchanges of one code, the first to take effect succeeds and every other one is refused";
const seen: Readonly<Record<Anomaly, (contenders: number) => string>> = {
  "granted-twice": (contenders) =>
    `more than one of ${contenders} concurrent exchanges of one code got tokens`,
  "refused-too-early": () => "an exchange was refused before any other had begun, but a later one got tokens",
  "never-granted": (contenders) =>
    `none of ${contenders} concurrent exchanges of one code got tokens, three times in a row`,
};
