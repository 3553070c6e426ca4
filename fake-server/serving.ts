import { readFile } from "node:fs/promises";
import type { AddressInfo, ListenOptions, Server } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import { readReason, codeOf } from "../conformance/contract/files.ts";
import { harmlessJson } from "../conformance/contract/harmless-text.ts";
import { ConfigurationError, listenError } from "../conformance/contract/problem.ts";
import { errorMessage } from "../conformance/contract/text.ts";
import { readPrivate, WideFile } from "../conformance/files/private.ts";
import events from "node:events";
import { pause } from "./clock.ts";

/**
 * A control interface: bad input is answered with 400 and a one-line reason. Answers are often read in a terminal, so
 * nothing in them acts on one.
 */
export const controlApp = (bodyLimit?: number): FastifyInstance => {
  const app = Fastify({ forceCloseConnections: true, ...(bodyLimit === undefined ? {} : { bodyLimit }) });
  app.setReplySerializer((value) => harmlessJson(JSON.stringify(value)));
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const isBadInput = error instanceof ConfigurationError;
    const isOther = error.statusCode === 415;
    return reply.code(isBadInput ? 400 : (error.statusCode ?? 500)).send({
      error: isOther ? "the body is not JSON; accepted is Content-Type: application/json" : error.message,
      ...(isBadInput ? { problems: error.problems } : {}),
    });
  });
  return app;
};

/**
 * Listens, and returns the port. Rejects with ConfigurationError if it is in use, or the host is not on this machine.
 */
export const listenAt = async (app: FastifyInstance, host: string, port: number): Promise<number> => {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenError(error, host, port);
  }
  return (app.server.address() as AddressInfo).port;
};

/** Work that is done at most once, however often it is called. */
export const once = (work: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
};

export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/**
 * The text of a file named by a flag; `secret` describes what only its owner may read. Rejects with ConfigurationError.
 */
export const readText = async (key: string, file: string, secret?: string): Promise<string> => {
  try {
    return await (secret === undefined ? readFile(file, "utf8") : readPrivate(file, secret));
  } catch (error) {
    const why = error instanceof WideFile ? error.message : `cannot read ${file} (${readReason(error)})`;
    throw new ConfigurationError(`${key}: ${why}`, { cause: error });
  }
};

export const readJson = async (key: string, file: string, secret?: string): Promise<unknown> => {
  const text = await readText(key, file, secret);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ConfigurationError(`${key}: ${file} is not JSON (${errorMessage(error)})`, { cause: error });
  }
};

const TRIES = 200;
const BETWEEN_MS = 50;

/**
 * Listens, and rejects as the server does. A port that it had before (`isAnew`) is tried for ten seconds, because a
 * connection that another program opened meanwhile may have been given it.
 */
export const listenOn = async (server: Server, options: ListenOptions, isAnew: boolean): Promise<void> => {
  for (let left = isAnew ? TRIES : 1; ; left -= 1) {
    server.listen(options);
    const error: unknown = await events.once(server, "listening").then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error === undefined) return;
    if (left <= 1 || codeOf(error) !== "EADDRINUSE") throw error;
    await pause(BETWEEN_MS);
  }
};
