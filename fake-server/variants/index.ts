import { joined, type Variant } from "../registry.ts";
import { answerVariants } from "./answers.ts";
import { credentialVariants } from "./credentials.ts";
import { httpVariants } from "./http.ts";
import { listVariants } from "./list.ts";
import { pushVariants } from "./push.ts";

/** Every conforming variant by name, in the order of the document. */
export const variants = joined<Variant>([
  answerVariants,
  credentialVariants,
  listVariants,
  httpVariants,
  pushVariants,
]);
