import type { Context, Service } from "../context.ts";
import { type Defect, defect } from "../registry.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "./tools.ts";

const isSecond = (clientId: string | undefined, { clients }: Pick<Service, "clients">): boolean =>
  clientId !== undefined && [...clients.keys()].indexOf(clientId) === 1;

const isSecondsCode = (code: unknown, context: Context): boolean =>
  typeof code === "string" && isSecond(context.credentials.codes.get(code)?.clientId, context);

/** What goes wrong for one client alone, while all goes well for the other that a service was tried with. */
export const secondClientDefects = {
  "state-unchecked-for-second-client": defect(
    "A state of the second client may have any characters.",
    ["authorize.state-charset"],
    (sound) => ({
      acceptsState: (state, query, context) =>
        sound.acceptsState(state, query, context) ||
        (state !== undefined && state.length <= 128 && isSecond(query.values.get("clientId"), context)),
    }),
  ),
  "state-of-129-bytes-for-second-client": defect(
    "A state of the second client may have a byte more.",
    ["authorize.state-length"],
    (sound) => ({
      acceptsState: (state, query, context) =>
        sound.acceptsState(state, query, context) ||
        (state?.length === 129 &&
          /^[a-zA-Z0-9]+$/.test(state) &&
          isSecond(query.values.get("clientId"), context)),
    }),
  ),
  "state-in-lower-case-for-second-client": defect(
    "The second client gets its state back in lower case.",
    ["authorize.echoes-state"],
    (sound) => ({
      authorizeFields: (record, timestamp, context) => ({
        ...sound.authorizeFields(record, timestamp, context),
        state: isSecond(record.clientId, context) ? record.state.toLowerCase() : record.state,
      }),
    }),
  ),
  "code-of-second-client-lives-longer": defect(
    "A code of the second client lives for eleven minutes.",
    ["code.lifetime"],
    (sound) => ({
      codeIsAlive: (record, context) =>
        sound.codeIsAlive(record, {
          ...context,
          nowMs: context.nowMs - (isSecond(record.clientId, context) ? MINUTE_MS : 0),
        }),
    }),
  ),
  "code-of-second-client-reusable": defect(
    "A code of the second client can be exchanged again.",
    ["code.single-use"],
    (sound) => ({
      takeCode: (record, context) => isSecond(record.clientId, context) || sound.takeCode(record, context),
    }),
  ),
  "code-of-second-client-restarted-by-attempt": defect(
    "A refused attempt starts the ten minutes of the second client's code again.",
    ["code.lifetime-is-not-extended"],
    (sound) => ({
      afterRefusedExchange: (record, kind, context) => {
        sound.afterRefusedExchange(record, kind, context);
        if (record !== undefined && kind !== "code-expired" && isSecond(record.clientId, context))
          record.issuedAtMs = context.nowMs;
      },
    }),
  ),
  "code-of-second-client-by-beginning": defect(
    "A code of the second client is found although something follows it.",
    ["code.unknown"],
    (sound) => ({
      findCode: (presented, context) => {
        const beginning = typeof presented === "string" ? presented.slice(0, 32) : presented;
        return sound.findCode(isSecondsCode(beginning, context) ? beginning : presented, context);
      },
    }),
  ),
  "secret-of-second-client-but-for-its-end": defect(
    "The last four characters of the second client's secret are not compared.",
    ["exchange.authenticates-client"],
    (sound) => ({
      authenticateClient: (clientId, clientSecret, clients) => {
        const second = [...clients.values()][1];
        const isRight =
          typeof clientSecret === "string" &&
          clientSecret.length === second?.secret.length &&
          clientSecret.slice(0, -4) === second.secret.slice(0, -4);
        return clientId === second?.id && isRight
          ? second
          : sound.authenticateClient(clientId, clientSecret, clients);
      },
    }),
  ),
  "refresh-token-of-second-client-lives-longer": defect(
    "A refreshToken of the second client lives for 31 days.",
    ["refresh.lifetime"],
    (sound) => ({
      refreshTokenIsAlive: (record, context) =>
        sound.refreshTokenIsAlive(record, {
          ...context,
          nowMs: context.nowMs - (isSecond(record.clientId, context) ? DAY_MS : 0),
        }),
    }),
  ),
  "refresh-for-second-client-without-client": defect(
    "A refresh that names no client at all is taken for the second client's.",
    ["refresh.unknown-client"],
    (sound) => ({
      findClientToRefresh: (clientId, clients) =>
        clientId === undefined ? [...clients.values()][1] : sound.findClientToRefresh(clientId, clients),
    }),
  ),
  "expires-in-of-second-client-in-milliseconds": defect(
    "expiresIn counts milliseconds for the second client.",
    ["access.lifetime"],
    (sound) => ({
      exchangeFields: (tokens, timestamp, expiresIn, context) =>
        sound.exchangeFields(
          tokens,
          timestamp,
          isSecond(tokens.clientId, context) ? Number(expiresIn) * SECOND_MS : expiresIn,
          context,
        ),
    }),
  ),
} satisfies Record<string, Defect>;
