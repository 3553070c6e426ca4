export { harmless as safe } from "../../conformance/contract/harmless-text.ts";
