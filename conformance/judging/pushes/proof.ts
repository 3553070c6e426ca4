import { duration } from "../../contract/duration.ts";
import type { Explanation, Flaw, Send } from "./explain.ts";

/** What is wrong with a notification, as a sentence. */
export const flawText = ({ flaws, journal: { pushCase } }: Explanation): string => {
  const [first] = flaws.toSorted((a, b) => b.byMs - a.byMs || a.push - b.push);
  return first === undefined ? `nothing (${pushCase.name})` : `${whatIsWrong(first)} (${pushCase.name})`;
};

const whatIsWrong = ({ kind, push, byMs }: Flaw): string => {
  if (kind === "missing") return `push ${push} did not come`;
  return kind === "surplus" ? `push ${push} is one too many` : `push ${push} came ${duration(byMs)} ${kind}`;
};

/**
 * The pushes of one notification, for a table: when each was due and when it came, in milliseconds after its event, and
 * what is wrong with it.
 */
export const sendRows = ({
  sends,
  flaws,
  journal: { event },
}: Explanation): readonly Record<string, unknown>[] => {
  const flawOf = (push: number): Flaw | undefined => flaws.find((flaw) => flaw.push === push);
  const afterMs = (ms: number): number => Math.round(ms - event.earliestMs);
  const rows = sends.map((send, index) => ({
    push: index + 1,
    ...(send.due === undefined ? {} : { dueMs: afterMs(send.due.earliestMs) }),
    ...(send.arrival === undefined
      ? {}
      : { fromMs: afterMs(send.at.earliestMs), toMs: afterMs(send.at.latestMs) }),
    ...noteOf(send, flawOf(index + 1)),
  }));
  const [missing] = flaws.filter(({ kind, push }) => kind === "missing" && push > sends.length);
  return missing === undefined ? rows : [...rows, { push: missing.push, ...noteOf(undefined, missing) }];
};

const noteOf = (send: Send | undefined, flaw: Flaw | undefined): { readonly note?: string } => {
  if (flaw?.kind === "missing") return { note: "did not come" };
  if (flaw?.kind === "surplus") return { note: "one too many" };
  if (flaw !== undefined) return { note: `${duration(flaw.byMs)} ${flaw.kind}` };
  if (send?.blind === undefined) return {};
  return { note: send.blind.kind === "outage" ? "met the closed receiver" : "on a connection that broke" };
};
