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
import { given } from "../../contract/given.ts";

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

export interface Service {
  /** The time by which the next request is served, by its path. */
  readonly nowMs: (path: string) => number;
  /** The timestamps in answers; there are none by default. */
  readonly timestamp?: (nowMs: number, path: string) => number;
  /** How long codes and tokens work; for ever by default. */
  readonly livesMs?: Readonly<Partial<Record<"code" | "accessToken" | "refreshToken", number>>>;
  readonly refusesRefresh?: true;
  /** The status of the answer to each exchange, of which others than 200 are empty. */
  readonly status?: (exchange: number) => number;
  /** Fields of token sets, besides or instead of the usual ones. */
  readonly fields?: Readonly<Record<string, number | undefined>>;
  /** Whether answers have a Date by the same time; by the machine's otherwise, as a gateway's may be. */
  readonly isDated?: true;
}

/** Issues and takes codes and tokens that say when they were issued. */
export const serving = (service: Service): Serving => {
  const { livesMs = {}, fields = {}, status = () => 200 } = service;
  let exchanges = 0;
  return (request, response, body) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://service.example");
    const nowMs = service.nowMs(pathname);
    const isAlive = (name: keyof typeof livesMs, value: unknown): boolean => {
      const [, issuedMs] = /^at-(\d+)$/.exec(String(value)) ?? [];
      return issuedMs !== undefined && nowMs - Number(issuedMs) < (livesMs[name] ?? Infinity);
    };
    const credential = `at-${Math.floor(nowMs)}`;
    const timestamp = service.timestamp?.(nowMs, pathname);
    const tokens = {
      accessToken: credential,
      refreshToken: credential,
      expiresIn: 7_200,
      ...given({ timestamp }),
      ...fields,
    };
    const sent = (body === "" ? {} : JSON.parse(body)) as Readonly<Record<string, unknown>>;
    const answers: Readonly<Record<string, () => object | false>> = {
      authorize: () => ({ code: credential, state: searchParams.get("state"), ...given({ timestamp }) }),
      "access-token": () => isAlive("code", sent["code"]) && tokens,
      "refresh-token": () =>
        service.refusesRefresh !== true && isAlive("refreshToken", sent["refreshToken"]) && tokens,
      notifications: () =>
        isAlive("accessToken", request.headers["x-service-access-token"]) && { data: [], total: 0 },
    };
    if (pathname.endsWith("/access-token")) response.statusCode = status((exchanges += 1));
    if (service.isDated) response.setHeader("date", new Date(nowMs).toUTCString());
    response.setHeader("content-type", "application/json");
    const answer = answers[pathname.split("/").at(-1) ?? ""]?.() || { error: "expired" };
    response.end(response.statusCode === 200 ? JSON.stringify(answer) : "");
  };
};
