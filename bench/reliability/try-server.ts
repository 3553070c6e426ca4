import fc from "fast-check";
import net from "node:net";
import { mapLimited } from "../../conformance/checks/map-limited.ts";
import { hostileRequest, type HostileRequest } from "./hostile-requests.ts";
import { after, type Tried } from "./tried.ts";

const AT_ONCE = 24;
const IN_A_BATCH = 250;
/** How long a sender that holds its connection waits before it leaves, in milliseconds. */
const HOLD_MS = 20;
const HANGS_AFTER_MS = 20_000;

/** What is attacked: a port, at these paths. */
interface Port {
  readonly name: string;
  readonly url: string;
  readonly paths: readonly string[];
}

/**
 * Sends a server this many hostile requests, a quarter of them to its control port. `stillServes` is called now and
 * then, and at the end, to check that a valid request succeeds; it returns what is wrong.
 */
export const tryServer = async (
  server: Port,
  control: Port,
  stillServes: () => Promise<string | undefined>,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<Tried> => {
  const fewer = Math.ceil(count / 4);
  const wrong = await tryPort(server, stillServes, count - fewer, seed);
  return { inputs: count, wrong: [...wrong, ...(await tryPort(control, stillServes, fewer, seed + 1))] };
};

const tryPort = async (
  { name, url, paths }: Port,
  stillServes: () => Promise<string | undefined>,
  count: number,
  seed: number,
): Promise<readonly string[]> => {
  const port = Number(new URL(url).port);
  const wrong: string[] = [];
  for (let done = 0; done < count; done += IN_A_BATCH) {
    const numRuns = Math.min(IN_A_BATCH, count - done);
    const inputs = fc.sample(hostileRequest(paths), { numRuns, seed: seed + done });
    await mapLimited(inputs, AT_ONCE, (input) => deliver(port, input));
    const problem = await Promise.race([
      stillServes(),
      after(HANGS_AFTER_MS, "an honest request gets no answer"),
    ]);
    if (problem !== undefined) wrong.push(`${name}, after inputs of seed ${seed + done}: ${problem}`);
  }
  return wrong;
};

/** Writes the bytes, discards what comes back, and leaves. */
export const deliver = (port: number, { bytes, afterwards }: HostileRequest): Promise<void> =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    const gone = setTimeout(() => socket.destroy(), HOLD_MS * 10);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(gone);
      resolve();
    });
    socket.resume();
    socket.write(bytes, () => {
      if (afterwards === "end") socket.end();
      else if (afterwards === "reset") socket.resetAndDestroy();
      else setTimeout(() => socket.destroy(), HOLD_MS);
    });
  });
