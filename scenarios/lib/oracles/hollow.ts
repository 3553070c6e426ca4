import { claimsTokens } from "../../../conformance/judging/laws/tokens.ts";
import { isSuccess, type Endpoint, type Exchange } from "../exchange.ts";
import { grantOf } from "./authorize.ts";
import { claimsPage } from "./pages.ts";

/** Whether an answer has anything of what its endpoint grants; the answer of an event hook is not judged. */
const grants: Readonly<Record<Endpoint, (exchange: Exchange) => boolean>> = {
  authorize: (exchange) => grantOf(exchange) !== undefined || exchange.fields["state"] !== undefined,
  exchange: ({ fields }) => claimsTokens(fields),
  refresh: ({ fields }) => claimsTokens(fields),
  list: claimsPage,
  trigger: () => true,
};

/**
 * Whether a status of success stands above nothing at all, such as an error in a body, a cut body or a page for humans.
 * The document shows no errors, so this may mean "not now": the request failed, and no promise was broken.
 */
export const grantsNothing = (exchange: Exchange): boolean =>
  (isSuccess(exchange) || (exchange.endpoint === "authorize" && exchange.location !== undefined)) &&
  !grants[exchange.endpoint](exchange);
