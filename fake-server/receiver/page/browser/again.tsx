import { useState } from "preact/hooks";
import type { PushLine } from "../../../../conformance/contract/push.ts";
import { harmless } from "../../../../conformance/contract/harmless-text.ts";
import { remember, remembered } from "../../../../web/browser/theme.tsx";
import { type Outcome, outcomeWords } from "../model/answers.ts";
import { differencesOf } from "../model/difference.ts";
import type { Feed } from "./feed.ts";
import { Field, Table, TaskForm, Text } from "./parts.tsx";

const urlKey = "touchstone.replay";

export const Replay = ({ feed, n }: { feed: Feed; n: number }) => {
  const [url, setUrl] = useState(() => remembered(urlKey) ?? "http://127.0.0.1:3000/webhook");
  const replay = async (): Promise<string> => {
    remember(urlKey, url);
    const { omitted, outcome } = (await feed.call("POST", "replay", { push: n, url })) as {
      readonly omitted: readonly string[];
      readonly outcome: Outcome;
    };
    const without = omitted.length === 0 ? "" : `, without ${omitted.join(", ")}`;
    return harmless(`Sent${without}: ${outcomeWords(outcome)}.`);
  };
  return (
    <section aria-label="Replay">
      <h3>Send again to an address on this machine</h3>
      <TaskForm label="Replay" button="Replay" task={replay}>
        <Field label="Address" kind="grow">
          <Text id="replay-url" value={url} onText={setUrl} />
        </Field>
      </TaskForm>
    </section>
  );
};

type PushOf = Extract<PushLine, { kind: "push" }>;

export const Differences = ({ push, other, number }: { push: PushOf; other: PushOf; number: number }) => {
  const found = differencesOf(other, push);
  if (found.length === 0) return <p class="same">Method, path, headers and body are equal.</p>;
  return (
    <Table
      label={`What differs from push ${number}`}
      name="differences"
      columns={["Where", `Push ${number}`, "This push"]}
      rows={found.map(({ where, before = "–", after = "–" }) => [where, before, after].map(harmless))}
    />
  );
};
