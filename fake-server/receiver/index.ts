export { receive } from "./receive.ts";
export { type ReceiverOptions, startReceiver } from "./start.ts";
