import { expect, it } from "vitest";
import { nowhere } from "../record.ts";
import { constantStage, settingsFor } from "../testing/loads.ts";
import { head, secondOfRows } from "../testing/sample-rows.ts";
import { seededRandom } from "../../../conformance/contract/random.ts";
import { createAbortWatch } from "../judge/outcome.ts";
import { createCollector, type CollectorOptions } from "./collector.ts";

const failedAll = { list: { granted: 0, refused: 0, failed: 9 } };

/** Why the load was to end, before its seconds were closed and after. */
const endsOf = (options: Pick<CollectorOptions, "sink" | "onSecond">) => {
  const reasons: string[] = [];
  const settings = settingsFor("http://127.0.0.1", constantStage(9, 2_000));
  const collector = createCollector(
    { settings, warmUpMs: 0, ...options },
    (reason) => void reasons.push(reason),
  );
  collector.samples(Buffer.from(head + secondOfRows(0, 9, seededRandom(1))));
  const before = [...reasons];
  collector.close();
  return { before, after: reasons };
};

it("the last seconds of the stages, which close only when the load has ended, count for giving it up", () => {
  const watch = createAbortWatch({ errorShare: 0, seconds: 1 });
  const onSecond: CollectorOptions["onSecond"] = ({ line }) => watch({ ...line, requests: failedAll });
  expect(endsOf({ sink: nowhere, onSecond })).toEqual({
    before: [],
    after: [expect.stringContaining("requests failed")],
  });
});

it("a record that cannot be written is told", () => {
  const full = { ...nowhere, failure: () => "the disk is full" };
  expect(endsOf({ sink: full }).after).toEqual(["the record could not be written: the disk is full"]);
});
