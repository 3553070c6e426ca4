import { expect, test, vi } from "vitest";
import { ACCOUNT, codeIn, type Reply, startTestService } from "../testing/flow.ts";
import { variants } from "../behaviours.ts";
import { SECOND_MS } from "../../conformance/contract/duration.ts";
import type { Endpoint } from "../../conformance/contract/forms.ts";
import { answerBreach } from "../../conformance/testing/contract-schemas.ts";

/** Expects an answer that matches the OpenAPI document, or a redirect, which has no body. */
const expectContract = (endpoint: Endpoint, { status, fields }: Reply): void => {
  if (status < 300) expect({ endpoint, breach: answerBreach[endpoint](fields) }).toEqual({ endpoint });
  else expect(endpoint).toBe("authorize");
};

test.each(["sound", ...Object.keys(variants)])(
  "%s serves the whole flow and refuses invalid requests",
  async (behaviour) => {
    await using service = await startTestService({ behaviour });
    const id = await service.event({ clientId: service.client.id });
    await service.advance(3 * SECOND_MS);

    const granted = await service.authorize({ state: "State007" });
    expectContract("authorize", granted);
    const code = codeIn(granted);
    expect(code).not.toBe("");
    const exchanged = await service.exchange(code);
    expectContract("exchange", exchanged);
    const { fields: tokens } = exchanged;
    expect(tokens).toMatchObject({ accessToken: expect.any(String), refreshToken: expect.any(String) });
    const refreshing = await service.refresh(tokens["refreshToken"]);
    expectContract("refresh", refreshing);
    const { fields: refreshed } = refreshing;
    expect(refreshed).not.toHaveProperty("refreshToken");
    // Some variants list new notifications after a delay.
    await vi.waitFor(async () => {
      const listing = await service.list(String(refreshed["accessToken"]), `?accountId=${ACCOUNT}`);
      expectContract("list", listing);
      expect(listing.fields).toMatchObject({
        data: [{ id, accountId: expect.stringMatching(new RegExp(ACCOUNT, "i")) }],
        total: 1,
      });
    }, 60_000);

    const again = await service.exchange(code);
    // A refusal may have the fields of an answer, but empty.
    expect(again.fields["accessToken"] ?? "").toBe("");
    expect(codeIn(await service.authorize({ state: "no good" }))).not.toMatch(/^[\w-]{32}$/);
    const { fields: unread } = await service.list("nobody");
    expect(unread["data"] ?? []).toEqual([]);
  },
);
