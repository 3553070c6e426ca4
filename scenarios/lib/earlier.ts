import type { IssuedCode } from "./login.ts";

const MOST = 20;

/**
 * Used codes of this virtual user's earlier iterations, oldest first. None of their tokens is in use any
 * more. Which ones they are depends, unlike all else, on which iterations k6 gave to this user.
 */
const kept: IssuedCode[] = [];

export const keepUsed = ({ client, code }: IssuedCode): void => {
  if (kept.length < MOST) kept.push({ client, code });
};

/** The oldest one, which is given once; undefined where there is none yet. */
export const takeUsed = (): IssuedCode | undefined => kept.shift();
