import { expect, test, vi } from "vitest";
import { ACCOUNT, codeIn, startTestService } from "../testing/flow.ts";
import { variants } from "./index.ts";
import { SECOND_MS } from "../../conformance/contract/duration.ts";

test.each(Object.keys(variants))(
  "%s serves the whole flow and refuses what is to be refused",
  async (behaviour) => {
    await using service = await startTestService({ behaviour });
    const id = await service.event({ clientId: service.client.id });
    await service.advance(3 * SECOND_MS);

    const code = codeIn(await service.authorize({ state: "State007" }));
    expect(code).not.toBe("");
    const { fields: tokens } = await service.exchange(code);
    expect(tokens).toMatchObject({ accessToken: expect.any(String), refreshToken: expect.any(String) });
    const { fields: refreshed } = await service.refresh(tokens["refreshToken"]);
    expect(refreshed).not.toHaveProperty("refreshToken");
    // Some list what is new in their own time.
    await vi.waitFor(async () => {
      const { fields: listed } = await service.list(
        String(refreshed["accessToken"]),
        `?accountId=${ACCOUNT}`,
      );
      expect(listed).toMatchObject({ data: [{ id, accountId: ACCOUNT }], total: 1 });
    });

    const again = await service.exchange(code);
    // A refusal may have the fields of an answer, with nothing in them.
    expect(again.fields["accessToken"] ?? "").toBe("");
    expect(codeIn(await service.authorize({ state: "no good" }))).not.toMatch(/^[\w-]{32}$/);
    const { fields: unread } = await service.list("nobody");
    expect(unread["data"] ?? []).toEqual([]);
  },
);
