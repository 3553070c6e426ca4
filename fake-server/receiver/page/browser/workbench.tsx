import { useEffect, useRef, useState } from "preact/hooks";
import type { PushAction, PushPlan, PushRule } from "../../../../conformance/contract/push.ts";
import { errorMessage } from "../../../../conformance/contract/text.ts";
import {
  type Outcome,
  otherwiseWords,
  outcomeWords,
  ruleFor,
  ruleWords,
  type Use,
  usualActions,
} from "../model/answers.ts";
import { exampleNotification, newId } from "../model/example.ts";
import { plural } from "../model/format.ts";
import type { Feed } from "./feed.ts";
import type { Session } from "./session.ts";
import { Field, TaskForm, Text, useTask } from "./parts.tsx";

const jsonOf = (text: string, what: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(`${what} is not JSON: ${errorMessage(error)}`, { cause: error });
  }
};

/** The receiver's current plan; read again while one of its rules ends by itself. */
const usePlan = ({ feed, connection, callbackUrl, version }: Session) => {
  const [plan, setPlan] = useState<PushPlan>();
  const isReading = useRef(false);
  const isConnected = callbackUrl() !== "" && connection() !== "lost" && connection() !== "locked";
  const ends = plan?.rules.some(({ times }) => times !== undefined) === true;
  const read = async (): Promise<void> => {
    isReading.current = true;
    let seen = -1;
    // New pushes may have ended a rule. If the plan cannot be read, the connection state says so.
    while (seen !== version()) {
      seen = version();
      setPlan((await feed.call("GET", "plan").catch(() => plan)) as PushPlan | undefined);
    }
    isReading.current = false;
  };
  useEffect(() => {
    if (isConnected && !isReading.current) void read();
  }, [isConnected, ends ? version() : 0]);
  return { plan, read };
};

const usual = usualActions.map(([words, action]) => [words, JSON.stringify(action)] as const);

const AnswerForm = ({ feed, read }: { feed: Feed; read: () => Promise<void> }) => {
  const [use, setUse] = useState<Use>("all");
  const [account, setAccount] = useState("");
  const [action, setAction] = useState(usual[1]?.[1] ?? "");
  const apply = async (): Promise<string> => {
    const rule = ruleFor(use, account.trim(), jsonOf(action, "the answer") as PushAction);
    await feed.call("POST", "rules", rule);
    void read();
    return "From now on.";
  };
  return (
    <TaskForm label="Change answers" button="Apply" task={apply}>
      <Field label="Answer">
        <select id="use" value={use} onChange={({ currentTarget: { value } }) => setUse(value as Use)}>
          <option value="all">all pushes</option>
          <option value="next">the next push</option>
          <option value="account">an account's pushes</option>
        </select>
      </Field>
      {use === "account" && (
        <Field label="Account">
          <Text id="answered-account" list="accounts" required value={account} onText={setAccount} />
        </Field>
      )}
      <Field label="with">
        <select id="usual" onChange={({ currentTarget: { value } }) => setAction(value)}>
          {usual.map(([words, json]) => (
            <option key={words} value={json} selected={json === action}>
              {words}
            </option>
          ))}
          {usual.every(([, json]) => json !== action) && (
            <option value={action} selected>
              As written
            </option>
          )}
        </select>
      </Field>
      <Field label="JSON" kind="grow">
        <Text id="action" class="json" value={action} onText={setAction} />
      </Field>
    </TaskForm>
  );
};

const mostRules = 50;

const Rules = ({ plan, onRemove }: { plan: PushPlan; onRemove: (rule: PushRule) => void }) => (
  <ol class="rules" aria-label="Answers in force">
    {plan.rules.slice(0, mostRules).map((rule) => (
      <li key={JSON.stringify([rule.match, rule.times === undefined])}>
        <span>{ruleWords(rule)}</span>
        <button type="button" aria-label={`Remove: ${ruleWords(rule)}`} onClick={() => onRemove(rule)}>
          Remove
        </button>
      </li>
    ))}
    {plan.rules.length > mostRules && <li>{`and ${plural(plan.rules.length - mostRules, "more rule")}`}</li>}
    <li>{otherwiseWords(plan)}</li>
  </ol>
);

const TestPush = ({ feed }: { feed: Feed }) => {
  const [body, setBody] = useState(JSON.stringify(exampleNotification, undefined, 2));
  const send = async (): Promise<string> => {
    const { outcome } = (await feed.call("POST", "test-push", jsonOf(body, "the body"))) as {
      outcome: Outcome;
    };
    return `Sent: ${outcomeWords(outcome)}.`;
  };
  return (
    <TaskForm label="Test push" button="Send a test push" task={send}>
      <Field label={`Body; "${newId}" becomes a new id`} kind="grow">
        <textarea
          id="test-body"
          class="json"
          rows={10}
          spellcheck={false}
          value={body}
          onInput={({ currentTarget: { value } }) => setBody(value)}
        />
      </Field>
    </TaskForm>
  );
};

export const Workbench = ({ session }: { session: Session }) => {
  const { plan, read } = usePlan(session);
  const { words, run } = useTask();
  const remove = ({ match, times }: PushRule): void =>
    run(async () => {
      await session.feed.call("DELETE", "rules", { match, ...(times === undefined ? {} : { times }) });
      void read();
      return "Removed.";
    });
  const [first] = plan?.rules ?? [];
  const current =
    plan === undefined ? "" : ` · ${first === undefined ? otherwiseWords(plan) : ruleWords(first)}`;
  return (
    <details class="workbench fold" onToggle={() => void read()}>
      <summary id="workbench">{`Answers and test push${current}`}</summary>
      <div class="columns">
        <section aria-label="Answers">
          <AnswerForm feed={session.feed} read={read} />
          {plan !== undefined && <Rules plan={plan} onRemove={remove} />}
          <p class="note" role="status">
            {words}
          </p>
        </section>
        <TestPush feed={session.feed} />
      </div>
    </details>
  );
};
