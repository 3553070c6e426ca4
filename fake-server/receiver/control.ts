import type { FastifyInstance, FastifyReply } from "fastify";
import { controlApp } from "../serving.ts";
import { createAccess, isLoopback } from "./access.ts";
import { addChangingRoutes, type Controlled } from "./changing-routes.ts";
import { addReadingRoutes } from "./reading-routes.ts";
import { addWorkbenchRoutes } from "./workbench-routes.ts";

export interface ControlOptions {
  readonly host: string;
  readonly token: string;
  readonly page: boolean | undefined;
  readonly journal: string | undefined;
}

const LARGEST_PLAN_BYTES = 64 * 1_048_576;

export const buildControl = (controlled: Controlled, options: ControlOptions): FastifyInstance => {
  const app = controlApp(LARGEST_PLAN_BYTES);
  const allowed = createAccess(options.host, options.token);
  app.addHook("onRequest", async (request, reply) => {
    const { authorization, origin, host: named } = request.headers;
    // The page's own files hold no data, and a browser sends no token when it opens an address.
    if (options.page === true && request.method === "GET" && (await sendPage(request.url, reply)))
      return reply;
    if (allowed({ authorization, host: named, origin })) return undefined;
    return reply
      .code(401)
      .header("www-authenticate", "Bearer")
      .send({ error: "the receiver's token is needed: Authorization: Bearer TOKEN" });
  });
  addReadingRoutes(app, controlled.log, options.journal);
  addChangingRoutes(app, controlled);
  addWorkbenchRoutes(app, controlled, isLoopback(options.host));
  return app;
};

const sendPage = async (url: string, reply: FastifyReply): Promise<boolean> => {
  const { answerPage } = await import("./page/serve.ts");
  const answer = await answerPage(url.replace(/\?.*$/s, ""));
  if (answer === undefined) return false;
  await reply.code(answer.status).headers(answer.headers).send(answer.body);
  return true;
};
