import { randomBytes, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { isIP } from "node:net";
import type { PushPlan } from "../../conformance/contract/push.ts";
import { createAttempts } from "./attempts.ts";
import { type Certificate, certificatesFor } from "./certificate.ts";
import { createReceiverClock } from "./clock.ts";
import { createConnections } from "./connections.ts";
import { buildControl } from "./control.ts";
import { createFaults } from "./faults.ts";
import { createIntake } from "./intake.ts";
import { type Journal, openJournal, type WriteAt } from "./journal.ts";
import { createLedger } from "./ledger.ts";
import { type ReceiverLimits, receiverLimits } from "./limits.ts";
import { createListener } from "./listener.ts";
import { parsePlan } from "./plan.ts";
import { createPlanner } from "./planner.ts";
import { InvalidReceiver, PortInUse } from "./problems.ts";
import { recount } from "./recount.ts";
import { recover, type Recovered } from "./recovery.ts";

export interface ReceiverOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly controlPort?: number;
  /** Address that both ports are bound to; this machine alone (127.0.0.1) where left out. */
  readonly host?: string;
  /** The name under which senders reach the receiver, where it is not `host`: goes into the callback URL and the certificate. */
  readonly publicHost?: string;
  /** Where pushes belong; /service/webhook (document, section 4.5) where left out. */
  readonly path?: string;
  readonly scheme?: "https" | "http";
  /** The user's own; one is made where left out. */
  readonly certificate?: Certificate;
  /** Where the authority and certificate that were made are kept; they last as long as this process where left out. */
  readonly certificateFolder?: string;
  /** Path of pushes.jsonl; the lines stay in memory, as many as fit, where left out. */
  readonly journal?: string;
  readonly plan?: PushPlan;
  /** Serves the live page on the control port. */
  readonly page?: boolean;
  /** What the control interface asks for; made up where left out. */
  readonly token?: string;
  readonly limits?: Partial<ReceiverLimits>;
  /** Told what the operator should know at once: a journal that ended in half a line, a full disk. */
  readonly onTrouble?: (message: string) => void;
  /** In the place of the disk, for tests. */
  readonly write?: WriteAt;
}

export interface RunningReceiver {
  readonly callbackUrl: string;
  readonly controlUrl: string;
  readonly token: string;
  /** The authority to trust, where the receiver made it. */
  readonly caFile?: string;
  readonly caPem?: string;
  /** Closes both ports and every connection; the journal is complete then. May be called again. */
  readonly stop: () => Promise<void>;
}

const nothingRecovered: Recovered = { last: 0, cleared: 0, places: [], problems: [] };
const HOST = "127.0.0.1";

/**
 * Starts a receiver of pushes and its control interface, each on a port of its own.
 * Rejects with PortInUse, InvalidCertificate, InvalidPlan, InvalidJournal or InvalidReceiver; nothing is left open then.
 */
export const startReceiver = async (options: ReceiverOptions = {}): Promise<RunningReceiver> => {
  const { host = HOST, path = "/service/webhook", scheme = "https", onTrouble = () => undefined } = options;
  if (!/^\/[!-~]*$/.test(path) || /[?#]/.test(path))
    throw new InvalidReceiver(
      `path is "${path}"; accepted is a path such as /service/webhook, without a query`,
    );
  if (options.publicHost !== undefined && !isHost(options.publicHost))
    throw new InvalidReceiver(
      `the public host is "${options.publicHost}"; accepted is a host name or an IP address, without scheme, brackets and port`,
    );
  const clock = createReceiverClock();
  const closing: (() => void | Promise<void>)[] = [clock.stop];
  const stop = once(async () => {
    for (const close of closing.toReversed()) await close();
  });
  try {
    let planner = createPlanner(options.plan === undefined ? { rules: [] } : parsePlan(options.plan));
    const attempts = createAttempts();
    const journal =
      options.journal === undefined ? undefined : await openJournal(options.journal, options.write);
    let recovered = nothingRecovered;
    let live: Journal | undefined = journal;
    if (journal !== undefined) {
      const release = once(journal.close);
      closing.push(release);
      recovered = await recover(journal, {
        cleared: () => {
          attempts.clear();
          planner.clear();
        },
        push: (text, line) => recount(text, line, attempts, options.plan === undefined ? undefined : planner),
      });
      live = { ...journal, close: release };
    }
    const ledger = createLedger({ epoch: randomUUID(), clock, journal: live, recovered, onTrouble });
    closing.push(ledger.close);
    const faults = createFaults(ledger, clock);
    const limits = { ...receiverLimits, ...options.limits };
    const connections = createConnections(clock, faults, limits.connections);
    const publicHost = options.publicHost ?? (isWildcard(host) ? hostname() : host);
    const certificates =
      scheme === "http"
        ? undefined
        : await certificatesFor({
            hosts: [
              ...new Set(["127.0.0.1", "localhost", "::1", ...(isWildcard(host) ? [] : [host]), publicHost]),
            ],
            nowMs: Date.parse(clock.wallTime()),
            ...(options.certificateFolder === undefined ? {} : { folder: options.certificateFolder }),
            ...(options.certificate === undefined ? {} : { certificate: options.certificate }),
          });
    const onRequest = createIntake({
      clock,
      connections,
      faults,
      ledger,
      limits,
      attempts,
      path,
      planner: () => planner,
    });
    const listener = createListener({
      host,
      port: options.port ?? 0,
      certificate: certificates?.own,
      limits,
      connections,
      faults,
      onRequest,
    });
    await listener.open();
    closing.push(async () => {
      listener.close();
      await connections.destroyAll();
    });
    const callbackUrl = `${scheme}://${inUrl(publicHost)}:${listener.port()}${path}`;
    const token = options.token ?? randomBytes(24).toString("base64url");
    const control = buildControl(
      {
        ledger,
        journalFile: options.journal,
        state: () => ({
          callbackUrl,
          ...(certificates?.caPem === undefined ? {} : { ca: certificates.caPem }),
          epoch: ledger.epoch,
          nowMs: clock.nowMs(),
          last: ledger.last(),
          listening: listener.listening(),
        }),
        follow: (plan) => {
          planner = createPlanner(plan);
        },
        setListener: async (state) => {
          if (listener.listening() === (state === "open")) return;
          if (state === "open") await listener.open();
          else {
            listener.close();
            connections.retire();
          }
          ledger.record({ kind: "listener", atMs: clock.nowMs(), state });
        },
        setCertificate: async (kind) => {
          const certificate = await certificates?.of(kind);
          if (certificate === undefined) return;
          listener.show(certificate);
          connections.retire();
        },
        clear: () => {
          attempts.clear();
          planner.clear();
          ledger.clear();
        },
      },
      { host, token, page: options.page ?? false },
    );
    closing.push(() => control.close());
    ledger.record({ kind: "started", at: clock.wallTime(), atMs: clock.nowMs() });
    ledger.record({ kind: "listener", atMs: clock.nowMs(), state: "open" });
    for (const message of recovered.problems) {
      onTrouble(message);
      ledger.record({ kind: "fault", atMs: clock.nowMs(), message });
    }
    await ledger.settled();
    const controlPort = await listenControl(control, host, options.controlPort ?? 0);
    return {
      callbackUrl,
      controlUrl: `http://${inUrl(isWildcard(host) ? HOST : host)}:${controlPort}`,
      token,
      ...(certificates?.caFile === undefined ? {} : { caFile: certificates.caFile }),
      ...(certificates?.caPem === undefined ? {} : { caPem: certificates.caPem }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

const listenControl = async (
  control: ReturnType<typeof buildControl>,
  host: string,
  port: number,
): Promise<number> => {
  try {
    await control.listen({ host, port });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") throw new PortInUse(port);
    throw error;
  }
  const address = control.server.address();
  return typeof address === "object" && address !== null ? address.port : port;
};

/** Names as they go into URLs and certificates: ASCII, so others in their xn-- form. */
const isHost = (text: string): boolean =>
  isIP(text) !== 0 || (text.length <= 253 && /^[a-z\d]([\w.-]*[a-z\d])?$/i.test(text));

const isWildcard = (host: string): boolean => host === "0.0.0.0" || host === "::";

const inUrl = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);

const once = (work: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
};
