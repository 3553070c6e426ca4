import { readFileSync, writeFileSync } from "node:fs";
import { missingFor } from "../../engine/needs.ts";
import { runOptions, startFake } from "../../testing/fake.ts";
import { ruleFor } from "../../testing/seeded.ts";
import { serveHttp } from "../../testing/servers.ts";
import type { stopAfterEach } from "../../testing/stopping.ts";
import { newScope } from "../../world/evidence/journal.ts";
import { parseFaketime } from "../../world/time/faketime-text.ts";
import { emptyPrepared, type Prepared } from "../../world/world.ts";
import { openSession } from "../session.ts";

export type Serving = Parameters<typeof serveHttp>[0];

/** A session with a service that reads a libfaketime file, which says this at first, or ought to. */
export const openByFile = async (
  stopping: ReturnType<typeof stopAfterEach>,
  file: string,
  startsAt: string,
  serve: (readMs: () => number) => Serving,
) => {
  writeFileSync(file, startsAt);
  const readMs = (): number => {
    const setting = parseFaketime(readFileSync(file, "utf8"));
    if (setting === undefined) throw new Error("the file says no time");
    return setting.kind === "frozen" ? setting.atMs : Date.now() + setting.offsetMs;
  };
  const { origin } = await stopping(serveHttp(serve(readMs)));
  const fake = await stopping(startFake());
  const resolved = await fake.resolved({ baseUrl: origin, hooks: { clock: { faketime: { file } } } });
  const session = openSession(resolved, runOptions());
  await stopping({ stop: () => session.close() });
  return {
    session,
    world: (prepared = emptyPrepared) =>
      session.world(newScope("preflight"), session.clocks.join(), prepared),
    /** Why a rule cannot be judged. */
    missing: (id: Parameters<typeof ruleFor>[0], prepared: Prepared = emptyPrepared) =>
      missingFor(session, prepared, ruleFor(id))?.verdict,
  };
};
