/** When a credential was asked for, in wall-clock milliseconds, and how long it then lives. */
export interface Issue {
  readonly askedAtMs: number;
  /** 0 if unknown. */
  readonly lifetimeMs: number;
}

/** A credential is not relied on in the last tenth of its life, or its last two seconds. */
export const reliedUntilMs = ({ askedAtMs, lifetimeMs }: Issue): number =>
  askedAtMs + lifetimeMs - Math.max(2_000, lifetimeMs / 10);

/** A token that lives too shortly to be relied on is used within this time. */
export const AT_ONCE_MS = 1_000;

/**
 * Whether the first use of a token shows that it works, not how long it lives: within a hundredth of its life, which is
 * more than a busy machine takes, or within a second if it lives shortly.
 */
export const isPromptUse = ({ askedAtMs, lifetimeMs }: Issue, usedAtMs: number): boolean =>
  usedAtMs - askedAtMs <= Math.max(AT_ONCE_MS, lifetimeMs / 100);

/**
 * Whether a refusal that was read at this moment proves nothing, because the credential may have ended meanwhile. One
 * that is never relied on, because it lives so shortly, must still work at once.
 */
export const mayHaveEnded = (issue: Issue, nowMs: number): boolean => {
  const { askedAtMs, lifetimeMs } = issue;
  const atOnceMs = lifetimeMs === 0 ? AT_ONCE_MS : Math.min(AT_ONCE_MS, lifetimeMs / 2);
  return nowMs > Math.max(reliedUntilMs(issue), askedAtMs + atOnceMs);
};
