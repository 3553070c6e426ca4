import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { mapLimited } from "../../conformance/checks/map-limited.ts";
import { seededRandom } from "../../conformance/contract/random.ts";
import { figure, root } from "../../conformance/testing/measure.ts";
import { mutationsOf, type Mutation } from "./mutate.ts";
import { play, type Played } from "./play.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";

/**
 * Plays this many mutants of the sound service, the same number of each room (default 60); `all` plays every one, and
 * texts separated by commas those whose line contains one. TOUCHSTONE_MUTANTS_SEED draws others, TOUCHSTONE_MUTANTS_AT_ONCE are under
 * way at a time, and TOUCHSTONE_MUTANTS_RECORD names a file that gets a line of JSON per mutant.
 */
const ASKED = process.env["TOUCHSTONE_MUTANTS"] ?? "60";
const SEED = Number(process.env["TOUCHSTONE_MUTANTS_SEED"] ?? "1");
const AT_ONCE = Number(process.env["TOUCHSTONE_MUTANTS_AT_ONCE"] ?? "1");
const RECORD = process.env["TOUCHSTONE_MUTANTS_RECORD"];

/** The parts of fake-server/ that are the service: no clock, no control interface, no restart, no command line. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  authorize: ["sound/authorize.ts", "routes/authorize.ts"],
  tokens: ["sound/tokens.ts", "routes/exchange.ts", "routes/refresh.ts"],
  notifications: ["sound/notifications.ts", "routes/list.ts", "notifications.ts", "events.ts"],
  pushes: ["sound/delivery.ts", "deliveries.ts", "push.ts", "schedule.ts", "sender.ts"].map((file) =>
    file.includes("/") ? file : `delivery/${file}`,
  ),
  http: ["sound/http.ts", "answer.ts", "body.ts", "query.ts", "server.ts"],
  whole: ["sound.ts", "limits.ts", "random.ts", "housekeeping.ts", "context.ts"],
};

interface Mutant extends Mutation {
  readonly room: string;
  readonly file: string;
  /** Where it is, and what it does. */
  readonly name: string;
}

const mutantsOf = (room: string, file: string): readonly Mutant[] => {
  const source = readFileSync(file, "utf8");
  return mutationsOf(file, source).map((mutation) => {
    const before = source.slice(0, mutation.start).split("\n");
    const place = `${path.relative(root, file)}:${before.length}:${(before.at(-1) ?? "").length + 1}`;
    return { ...mutation, room, file, name: `${place} ${mutation.operator}` };
  });
};

/** Part of what `NODE_V8_COVERAGE` writes: how often each range of each script ran, inner ranges after outer ones. */
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly {
        readonly startOffset: number;
        readonly endOffset: number;
        readonly count: number;
      }[];
    }[];
  }[];
}

/** Plays the unchanged service once, and returns what it never ran. Throws if it is not found sound. */
const unreachedBy = async (): Promise<(mutant: Mutant) => boolean> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const { exitCode, open } = await play({ NODE_V8_COVERAGE: folder, NODE_DISABLE_COMPILE_CACHE: "1" });
  if (exitCode !== 0)
    throw new Error(`the gate on the sound service ended with ${exitCode}: ${open.join("; ")}`);
  const scripts = readdirSync(folder).flatMap(
    (name) => (JSON.parse(readFileSync(path.join(folder, name), "utf8")) as Coverage).result,
  );
  const rangesOf = Map.groupBy(
    scripts.filter(({ url }) => url.startsWith("file:")),
    ({ url }) => fileURLToPath(url),
  );
  return ({ file, start }) => {
    const around = (rangesOf.get(file) ?? [])
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
      .filter(({ startOffset, endOffset }) => startOffset <= start && start < endOffset)
      .toSorted((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset));
    return (around[0]?.count ?? 0) === 0;
  };
};

/** As many of each room, drawn by the seed. */
const sampleOf = (mutants: readonly Mutant[]): readonly Mutant[] => {
  if (ASKED === "all") return mutants;
  const count = Number(ASKED);
  if (Number.isNaN(count))
    return mutants.filter(({ name }) => ASKED.split(",").some((part) => name.includes(part)));
  const random = seededRandom(SEED);
  const drawn = mutants.map((mutant) => ({ mutant, at: random() })).toSorted((a, b) => a.at - b.at);
  const byRoom = [...Map.groupBy(drawn, ({ mutant }) => mutant.room).values()];
  return byRoom
    .flatMap((some) =>
      some
        .slice(0, Math.ceil(count / byRoom.length))
        .entries()
        .toArray(),
    )
    .toSorted(([a], [b]) => a - b)
    .map(([, { mutant }]) => mutant);
};

/** How a play may end; `warned` if only a rule of a standard saw the mutant. */
const endings = [
  "killed",
  "warned",
  "survived",
  "undecided",
  "refused",
  "unreachable",
  "our error",
  "hung",
] as const;
const endingOf = ({ exitCode, open }: Played): (typeof endings)[number] => {
  if (exitCode === undefined) return "hung";
  if (exitCode === 0) return open.length > 0 ? "warned" : "survived";
  return (["killed", "refused", "undecided", "unreachable"] as const)[exitCode - 1] ?? "our error";
};

/** Whatever a service does, the gate has to end, and not by an error of its own. */
const targets: Partial<Record<(typeof endings)[number], string>> = { "our error": "0", hung: "0" };

/** Measures what the gate sees of mutants that a program made of the sound service. */
export const mutants = async (): Promise<void> => {
  const all = Object.entries(rooms).flatMap(([room, files]) =>
    files.flatMap((file) => mutantsOf(room, path.join(root, "fake-server", file))),
  );
  const isUnreached = await unreachedBy();
  const reached = all.filter((mutant) => !isUnreached(mutant));
  const sample = sampleOf(reached);
  const counts = new Map<string, number>();
  await mapLimited(sample, AT_ONCE, async (mutant) => {
    const played = await play({ TOUCHSTONE_MUTANT: JSON.stringify(mutant) });
    const ending = endingOf(played);
    counts.set(ending, (counts.get(ending) ?? 0) + 1);
    if (RECORD !== undefined) appendFileSync(RECORD, `${JSON.stringify({ ...mutant, ...played, ending })}\n`);
    if (ending !== "killed")
      process.stdout.write(
        `  ${ending}: ${mutant.name}${played.open.map((one) => `\n    ${one}`).join("")}\n`,
      );
  });
  figure("mutants; reached by a gate; played", `${all.length}; ${reached.length}; ${sample.length}`, "none");
  for (const ending of endings)
    figure(`mutants ${ending}`, String(counts.get(ending) ?? 0), targets[ending] ?? "none");
};
