import { joined, type Variant } from "../registry.ts";
import { authorizeVariants } from "./authorize.ts";
import { credentialVariants } from "./credentials.ts";
import { httpVariants } from "./http.ts";
import { listVariants } from "./list.ts";
import { oddPushVariants } from "./push-odd.ts";
import { pushVariants } from "./push.ts";
import { refusalVariants } from "./refusals.ts";

/** Every conforming variant by name, in the order of the document. */
export const variants = joined<Variant>([
  authorizeVariants,
  refusalVariants,
  credentialVariants,
  listVariants,
  httpVariants,
  pushVariants,
  oddPushVariants,
]);
