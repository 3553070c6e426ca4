export { receive } from "./receive.ts";
export { type ReceiverOptions, type RunningReceiver, startReceiver } from "./start.ts";
