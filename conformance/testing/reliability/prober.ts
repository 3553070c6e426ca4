import net from "node:net";
import tls from "node:tls";

/** What a load balancer's health check does. */
type ProbeKind = "connects" | "resets" | "shakes hands" | "speaks no TLS";

/** All kinds, with the most common one most often. */
export const probeKinds: readonly ProbeKind[] = [
  "connects",
  "connects",
  "resets",
  "shakes hands",
  "speaks no TLS",
];

/** Probes a port of this machine at this interval, in each of these ways in turn, until stopped. */
export const startProber = (port: number, periodMs: number, kinds: readonly ProbeKind[]) => {
  let probes = 0;
  const timer = setInterval(() => {
    const kind = kinds[probes % kinds.length] ?? "connects";
    probes += 1;
    const socket: net.Socket =
      kind === "shakes hands"
        ? tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => socket.end())
        : net.connect(port, "127.0.0.1", () => {
            if (kind === "resets") socket.resetAndDestroy();
            else socket.end(kind === "speaks no TLS" ? "GET /healthz HTTP/1.1\r\n\r\n" : "");
          });
    // At times nothing listens, because the push run closes the receiver.
    socket.on("error", () => undefined);
    socket.resume();
  }, periodMs);
  return {
    probes: () => probes,
    stop: () => {
      clearInterval(timer);
      return Promise.resolve();
    },
  };
};
