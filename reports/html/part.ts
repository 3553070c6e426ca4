import type { Child } from "./element.ts";

/** A part of the page that its table of contents names. */
export interface Part {
  readonly id: string;
  readonly title: string;
  readonly content: readonly Child[];
}
