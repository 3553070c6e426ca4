import path from "node:path";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { canonicalJson } from "../../conformance/contract/verdict.ts";
import { fingerprintOf, targetNameOf } from "../compare/index.ts";
import { readRun, runsIn, UnreadableRun, type GateRun, type LoadRun, type Run } from "../read/index.ts";

/** How many runs were read anew, and how many were gone. */
export interface Synchronised {
  readonly read: number;
  readonly gone: number;
}

/**
 * Brings the index in line with the run directories of the folder: reads what is new or has changed since,
 * and drops what is gone. A run that cannot be read is kept with the reason. Throws UnreadableRun where the
 * folder itself cannot be read.
 */
export const synchronise = async (database: DatabaseSync, folder: string): Promise<Synchronised> => {
  const present = new Map(runsIn(folder).map(({ directory, stamp }) => [path.basename(directory), stamp]));
  const known = new Map(
    database
      .prepare("SELECT name, stamp FROM runs")
      .all()
      .map(({ name, stamp }) => [String(name), stamp]),
  );
  const changed = [...present].filter(([name, stamp]) => known.get(name) !== stamp);
  const gone = [...known.keys()].filter((name) => !present.has(name));
  const write = writerOf(database);
  if (gone.length > 0) atOnce(database, () => gone.forEach(write.drop));
  for (let from = 0; from < changed.length; from += BATCH) {
    const rows: { name: string; stamp: string; run: Run | string }[] = [];
    for (const [name, stamp] of changed.slice(from, from + BATCH))
      rows.push({ name, stamp, run: await readOrWhy(path.join(folder, name)) });
    atOnce(database, () => {
      for (const { name, stamp, run } of rows) {
        write.drop(name);
        if (typeof run === "string") write.problem(name, stamp, run);
        else write.run(name, stamp, run);
      }
    });
  }
  return { read: changed.length, gone: gone.length };
};

/** So many runs are held in memory at a time; reading happens outside the transaction, so that others wait little. */
const BATCH = 50;

/** All of the changes, or none of them. */
const atOnce = (database: DatabaseSync, change: () => void): void => {
  database.exec("BEGIN IMMEDIATE");
  try {
    change();
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
};

const readOrWhy = async (directory: string): Promise<Run | string> => {
  try {
    return await readRun(directory);
  } catch (error) {
    if (error instanceof UnreadableRun) return error.message;
    throw error;
  }
};

const writerOf = (database: DatabaseSync) => {
  const statement = (sql: string) => {
    const prepared = database.prepare(sql);
    return (...values: readonly SQLInputValue[]): void => void prepared.run(...values);
  };
  const dropRun = statement("DELETE FROM runs WHERE name = ?");
  const dropRules = statement("DELETE FROM rules WHERE run = ?");
  const dropFigures = statement("DELETE FROM figures WHERE run = ?");
  const addProblem = statement("INSERT INTO runs (name, stamp, problem) VALUES (?, ?, ?)");
  const addRun =
    statement(`INSERT INTO runs (name, stamp, kind, started_at, ended_at, state, outcome, exit_code,
    tool, target, base_url, behaviour, fingerprint, scenario, shape, rate, usable)
    VALUES (${Array.from({ length: 17 }, () => "?").join(", ")})`);
  const addRule = statement(
    "INSERT INTO rules (run, id, level, verdict, fingerprint) VALUES (?, ?, ?, ?, ?)",
  );
  const addFigure = statement("INSERT INTO figures (run, endpoint, metric, value) VALUES (?, ?, ?, ?)");
  return {
    drop: (name: string): void => {
      dropRun(name);
      dropRules(name);
      dropFigures(name);
    },
    problem: addProblem,
    run: (name: string, stamp: string, run: Run): void => {
      addRun(name, stamp, ...columnsOf(run));
      for (const [id, level, verdict, fingerprint] of rulesOf(run))
        addRule(name, id, level, verdict, fingerprint);
      if (run.kind === "load") for (const one of figuresOf(run)) addFigure(name, ...one);
    },
  };
};

const columnsOf = (run: Run): readonly SQLInputValue[] => {
  const { record } = run;
  const load = run.kind === "load" ? run.record : undefined;
  const usable = record.state === "sealed" && load?.validity?.valid !== false && load?.stopped === undefined;
  return [
    run.kind,
    record.startedAt,
    record.endedAt ?? null,
    record.state,
    record.outcome ?? null,
    record.exitCode ?? null,
    record.tool,
    targetNameOf(record.target),
    record.target.baseUrl,
    record.target.behaviour ?? null,
    canonicalJson(fingerprintOf(run)),
    load?.scenario ?? null,
    load?.shape ?? null,
    load?.rate ?? null,
    usable ? 1 : 0,
  ];
};

type RuleRow = readonly [id: string, level: string | null, verdict: string, fingerprint: string | null];

const rulesOf = (run: GateRun | LoadRun): readonly RuleRow[] =>
  run.kind === "conform"
    ? run.record.rules.map(({ id, level, verdict }) => [
        id,
        level,
        verdict.kind,
        verdict.kind === "observed" ? verdict.fingerprint : null,
      ])
    : run.record.rules
        .filter(({ checks }) => checks > 0)
        .map(({ id, breaches }) => [id, null, breaches > 0 ? "failed" : "passed", null]);

const figuresOf = ({ record }: LoadRun): readonly (readonly [string, string, number])[] => [
  ...record.endpoints
    .filter(({ outcome }) => outcome === "granted")
    .flatMap(({ endpoint, response }) =>
      (["p50", "p95", "p99"] as const).map((metric) => [endpoint, metric, response[`${metric}Ms`]] as const),
    ),
  ...(record.achieved === undefined
    ? []
    : [["all", "requests per second", record.achieved.requestsPerSecond] as const]),
];
