import { ACCOUNT } from "./flow.ts";
import { type Pushing, startPushing } from "./pushing.ts";
import { type Reaction, startTestReceiver } from "./receiver.ts";

/** An answer whose connection ends in the middle of its body. */
const cutIn =
  (status: number): Reaction =>
  (answer, { socket }) => {
    answer.writeHead(status, { "content-length": "40" });
    answer.write('{"id":');
    setImmediate(() => socket.destroy());
  };

/** An acknowledgement that is written otherwise than usual, is refused, or is missing. */
const saying =
  (body: (id: string) => string, status = 200): Reaction =>
  (answer, { id }) =>
    answer.writeHead(status, { "content-type": "application/json" }).end(body(id));

const inPieces: Reaction = (answer, { id }) => {
  answer.writeHead(200, "Received", { "content-type": "application/json" });
  answer.write(`{"id":"${id}",`);
  answer.end('"received":true}');
};

/** Off the whole second and off steps of a 300th of one, which some services cut times to, and not long before midnight. */
const START_MS = 86_300_508;
const STEP_SECONDS = 5;
const WATCHED_SECONDS = 1_300;

/** Answers to the first push of a notification whose second push is acknowledged. */
const FIRST_ANSWERS: readonly Reaction[] = [
  (answer) => answer.writeHead(302, { location: "/elsewhere" }).end(),
  (answer) => answer.writeHead(307, { location: "/elsewhere" }).end(),
  400,
  404,
  410,
  429,
  500,
  503,
  202,
  (_answer, { socket }) => void socket.end(),
  (_answer, { socket }) => void socket.resetAndDestroy(),
  cutIn(200),
  cutIn(503),
  saying((id) => `{"received": true, "id": "${id}"}`),
  saying((id) => JSON.stringify({ id, received: false })),
  saying(() => ""),
  saying((id) => JSON.stringify({ id, received: true }), 303),
  (answer) => answer.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end(),
  (answer) => answer.writeHead(200, { "transfer-encoding": "chunked" }).end(),
  inPieces,
  saying(() => "<!DOCTYPE html>", 502),
  saying(() => "null", 503),
  () => undefined,
  () => undefined,
];

const accountOf = (index: number): string => ACCOUNT.replace(/^.{8}/, String(index).padStart(8, "0"));

const listed = async (service: Pushing): Promise<unknown> => {
  const { fields: tokens } = await service.exchange(await service.code());
  return (await service.list(String(tokens["accessToken"]), "?limit=100")).fields["data"];
};

/**
 * Everything that a receiver and a reader of the list see of a service, in a history with each kind of failure, with
 * acknowledgements at each push, and with several notifications per account. Ids are replaced by the number of their
 * event.
 */
export const pushTrace = async (behaviour: string): Promise<string> => {
  await using service = await startPushing({ behaviour, patienceMs: 20, startTimeMs: START_MS });
  const { receiver } = service;
  const plans = new Map<string, (attempt: number) => Reaction>();
  receiver.react = ({ path, accountId }, attempt) =>
    path === "/elsewhere" ? 404 : (plans.get(accountId)?.(attempt) ?? 404);
  const ids: string[] = [];
  const raise = async (plan: (attempt: number) => Reaction, account = ids.length): Promise<void> => {
    plans.set(accountOf(account), plan);
    ids.push(await service.event({ accountId: accountOf(account) }));
  };

  // The refused connection comes first, before anything else is received.
  await receiver.close();
  await raise(() => 200);
  await service.secondsOfPushes(STEP_SECONDS, STEP_SECONDS);
  const port = Number(new URL(receiver.url).port);
  await using again = await startTestReceiver({ port, nowMs: service.nowMs });
  Object.assign(again, { pushes: receiver.pushes, react: receiver.react });

  for (const first of FIRST_ANSWERS) await raise((attempt) => (attempt === 1 ? first : 200));
  for (const last of [1, 2, 3, 4, 5]) await raise((attempt) => (attempt < last ? 500 : 200));
  await raise((attempt) => (attempt % 2 === 1 ? 500 : 404));
  await raise(() => 500, 90);
  await service.secondsOfPushes(3 * STEP_SECONDS, STEP_SECONDS);
  await raise(() => 500, 90);
  await raise((attempt) => (attempt < 3 ? 500 : 200), 91);
  await service.secondsOfPushes(STEP_SECONDS, STEP_SECONDS);
  await raise((attempt) => (attempt < 3 ? 500 : 200), 91);
  for (let n = 0; n < 12; n += 1) await raise(() => 500, 92);
  await service.secondsOfPushes(WATCHED_SECONDS, STEP_SECONDS);
  // In an account of which pushes were given up.
  await raise(() => 200, 90);
  await service.secondsOfPushes(STEP_SECONDS, STEP_SECONDS);
  // In an account of which pushes were acknowledged.
  await raise((attempt) => (attempt < 2 ? 500 : 200), 91);
  await service.secondsOfPushes(8 * STEP_SECONDS, STEP_SECONDS);

  const { pushes } = await service.control("GET", "/counters");
  const received = receiver.pushes.map(({ atMs, method, path, body }) => ({ atMs, method, path, body }));
  const text = JSON.stringify({ pushes, received, listed: await listed(service) });
  return ids.reduce((rest, id, index) => rest.replaceAll(id, `event ${index}`), text);
};
