import { expect, test } from "vitest";
import { startTestService, tokensOf } from "./testing/flow.ts";

const liveOf = async (controlUrl: string): Promise<Record<string, number>> => {
  const counters = (await (await fetch(`${controlUrl}/counters`)).json()) as {
    live: Record<string, number>;
  };
  return counters.live;
};

test("long expired credentials are removed and valid ones are kept", async () => {
  await using service = await startTestService();
  const { refreshToken } = await tokensOf(service);
  for (let issued = 0; issued < 40; issued += 1) await service.code();
  await service.advance(86_400_000);
  for (let issued = 0; issued < 260; issued += 1) await service.authorize();
  const live = await liveOf(service.controlUrl);
  expect(live["codes"]).toBeLessThanOrEqual(260);
  expect(live["accessTokens"]).toBe(0);
  expect((await service.refresh(refreshToken)).status).toBe(200);
});
