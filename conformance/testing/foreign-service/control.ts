import { createServer, type Server } from "node:http";
import type { ProcessClock } from "./clock.ts";
import { answerJson, readJson, Unreadable } from "./http.ts";
import type { Notifications } from "./notifications.ts";

/** What a test does to the service from outside, on a separate port: read and advance the clock, create an event. */
export const createControl = (clock: ProcessClock, notifications: Notifications): Server =>
  createServer((request, response) => {
    const act = async (): Promise<unknown> => {
      switch (`${request.method} ${request.url}`) {
        case "GET /clock":
          return { now: clock.nowMs() };
        case "POST /clock/advance": {
          const { ms } = await readJson(request);
          if (!Number.isSafeInteger(ms) || Number(ms) < 0) throw new Unreadable(400);
          clock.advance(Number(ms));
          return { now: clock.nowMs() };
        }
        case "POST /events": {
          const { accountId } = await readJson(request);
          if (typeof accountId !== "string") throw new Unreadable(400);
          return { id: notifications.create(accountId) };
        }
        default:
          throw new Unreadable(404);
      }
    };
    void act().then(
      (answer) => answerJson(response, 200, answer),
      (error: unknown) =>
        answerJson(response, error instanceof Unreadable ? error.status : 500, { error: String(error) }),
    );
  });
