import type { StartOptions } from "../index.ts";
import { askControl } from "./ask.ts";
import { startTestService } from "./flow.ts";
import { startTestReceiver, type TestReceiverOptions } from "./receiver.ts";

export type Pushing = Awaited<ReturnType<typeof startPushing>>;

const START_MS = 1_000_000;

/**
 * How many steps bring the clock to the next possible event, according to its last answer: idle steps are combined.
 * While pushes are in flight, every step counts.
 */
const stepsToNext = (
  { now, nextDue, inFlight }: Readonly<Record<string, unknown>>,
  stepMs: number,
): number => {
  if (inFlight !== 0 || typeof now !== "number") return 1;
  return typeof nextDue === "number"
    ? Math.max(1, Math.ceil((nextDue - now) / stepMs))
    : Number.POSITIVE_INFINITY;
};

/** A service with a receiver registered as its callback. */
export const startPushing = async (
  options: StartOptions & { readonly receiver?: TestReceiverOptions; readonly ca?: string } = {},
) => {
  const { receiver: receiverOptions, ca, ...rest } = options;
  let nowMs = rest.startTimeMs ?? START_MS;
  const receiver = await startTestReceiver({ ...receiverOptions, nowMs: () => nowMs });
  const service = await startTestService({ startTimeMs: START_MS, ...rest });
  const control = async (method: string, path: string, body?: unknown) =>
    (await askControl(service.controlUrl + path, method, body)).body;
  await control("PUT", "/callback", { url: receiver.url, ...(ca === undefined ? {} : { ca }) });
  const stop = async (): Promise<void> => {
    await service.stop();
    await receiver.close();
  };
  return {
    ...service,
    receiver,
    /** The service's time, as moved by secondsOfPushes. */
    nowMs: () => nowMs,
    control,
    stop,
    pushesOf: (id: string) => receiver.pushes.filter((push) => push.id === id),
    /** Moves the clock in steps of a second, and returns the second of each push since the start. */
    secondsOfPushes: async (seconds: number, stepSeconds = 1) => {
      // Work in flight without any step belongs to the present moment.
      let reply = await service.advance(0);
      for (let left = Math.ceil(seconds / stepSeconds); left > 0;) {
        const steps = Math.min(left, stepsToNext(reply.fields, stepSeconds * 1_000));
        nowMs += steps * stepSeconds * 1_000;
        reply = await service.advance(steps * stepSeconds * 1_000);
        left -= steps;
      }
      return receiver.pushes.map(({ atMs }) => (atMs - START_MS) / 1_000);
    },
    [Symbol.asyncDispose]: stop,
  };
};
