import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe finds on a page, with the elements. */
export const axeViolations = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(axe.source);
  return page.evaluate<readonly string[]>(
    `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 160))].join(" ")))`,
  );
};

/** By how many pixels a page is wider than its window. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate("(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.documentElement)");

export const backgroundOf = (page: Page): Promise<string> =>
  page.evaluate("getComputedStyle(document.body).backgroundColor");
