import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe finds on a page, with the elements; with impacts, only violations of these. */
export const axeViolations = async (
  page: Page,
  impacts?: readonly ("serious" | "critical")[],
): Promise<readonly string[]> => {
  await page.evaluate(axe.source);
  const found = await page.evaluate<readonly (readonly [impact: string, text: string])[]>(
    `axe.run(document).then(({ violations }) => violations.map(({ id, impact, nodes }) => [impact, [id, ...nodes.map(({ html }) => html.slice(0, 160))].join(" ")]))`,
  );
  return found
    .filter(([impact]) => impacts === undefined || impacts.some((one) => one === impact))
    .map(([, text]) => text);
};

/** By how many pixels a page is wider than its window. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate("(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.documentElement)");

export const backgroundOf = (page: Page): Promise<string> =>
  page.evaluate("getComputedStyle(document.body).backgroundColor");
