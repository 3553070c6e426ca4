import { expect, test } from "vitest";
import { rulesOf } from "../checks/rule.ts";
import { judge, judgeAll } from "../testing/judge.ts";
import { behaving, ruleFor } from "../testing/seeded.ts";
import { codeRules } from "./code.ts";

const rules = [...rulesOf(codeRules), ruleFor("code.unknown"), ruleFor("code.bound-to-client")];

test("a code may be used up by a near miss of it", async () => {
  const behaviour = behaving((sound) => ({
    findCode: (presented, context) => {
      const spelt = String(presented).toLowerCase();
      for (const record of context.credentials.codes.values())
        if (record.code !== presented && spelt.includes(record.code.toLowerCase()))
          record.usedAtMs ??= context.nowMs;
      return sound.findCode(presented, context);
    },
  }));
  expect(await judge(ruleFor("code.unknown"), { behaviour })).toMatchObject({ kind: "passed" });
});

test("rules about one client are judged without a second client", async () => {
  const results = await judgeAll(rules, {
    profile: (profile) => ({ ...profile, clients: profile.clients.slice(0, 1) }),
  });
  const kinds = Object.fromEntries(results.map(({ id, verdict }) => [id, verdict.kind]));
  expect(kinds).toMatchObject({
    "code.single-use": "passed",
    "code.independence": "passed",
    "code.bound-to-client": "could-not-run",
  });
});
