import { expect, test } from "vitest";
import { fieldOf } from "../conformance/contract/json.ts";
import { askControl } from "./testing/ask.ts";
import { startTestService, tokensOf } from "./testing/flow.ts";

test("long expired credentials are removed and valid ones are kept", async () => {
  await using service = await startTestService();
  const { refreshToken } = await tokensOf(service);
  for (let issued = 0; issued < 40; issued += 1) await service.code();
  await service.advance(86_400_000);
  for (let issued = 0; issued < 260; issued += 1) await service.authorize();
  const { live } = (await askControl(`${service.controlUrl}/counters`)).body;
  expect(fieldOf(live, "codes")).toBeLessThanOrEqual(260);
  expect(fieldOf(live, "accessTokens")).toBe(0);
  expect((await service.refresh(refreshToken)).status).toBe(200);
});
