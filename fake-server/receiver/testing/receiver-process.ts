import { startReceiver } from "../start.ts";

/** A receiver in its own process, for benchmarks and tests that kill it: options as JSON in, addresses as JSON out. */
const receiver = await startReceiver(JSON.parse(process.argv[2] ?? "{}"));
process.stdout.write(`${JSON.stringify(receiver)}\n`);
process.once("SIGTERM", () => void receiver.stop());
