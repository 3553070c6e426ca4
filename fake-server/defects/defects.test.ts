import { expect, test } from "vitest";
import { unlistedService } from "../testing/flow.ts";
import { defects, loadDefects } from "../behaviours.ts";
import { HOUR_MS } from "../../conformance/contract/duration.ts";

/** Defects that answer 500 on purpose. */
const answersWith500 = ["refusal-of-expired-code-shows-stack", "exchange-always-fails"];

/** Every operation once with valid and once with invalid input; whatever the defect, each must be answered. */
test.each(Object.keys({ ...defects, ...loadDefects }))(
  "%s starts, answers every operation, and stops",
  async (behaviour) => {
    await using service = unlistedService(behaviour);
    const code = await service.code().catch(() => "");
    const replies = [
      await service.exchange(code, { clientSecret: "wrong" }),
      await service.exchange(code),
      await service.exchange(code),
      await service.exchange("unknown"),
    ];
    const { refreshToken, accessToken } = replies[1]?.fields ?? {};
    await service.event({});
    replies.push(
      await service.refresh(refreshToken),
      await service.refresh("unknown"),
      await service.list(String(accessToken), "?limit=2&page=0"),
      await service.list("unknown"),
    );
    await service.advance(HOUR_MS);
    replies.push(await service.exchange(code), await service.refresh(refreshToken));
    const most = answersWith500.includes(behaviour) ? 500 : 499;
    for (const { status } of replies) expect(status).toBeLessThanOrEqual(most);
  },
);
