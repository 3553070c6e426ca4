import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";

/**
 * Simulated machines: each in its own network namespace (address and ports) with its own host name, joined by an
 * isolated bridge. The target stands at the bridge. Needs root and iproute2.
 */
export interface Hosts extends AsyncDisposable {
  /** The command line that runs a command on machine 1, 2 and so on. */
  readonly on: (machine: number, command: readonly string[]) => readonly string[];
  readonly onTarget: (command: readonly string[]) => readonly [string, ...string[]];
  /** Disconnects a machine. */
  readonly cut: (machine: number) => void;
  /** Lets the machines reach the target's loopback ports, and rewrites the profile accordingly. */
  readonly open: (profileFile: string) => Promise<void>;
}

/** From the range reserved for network benchmarks (RFC 2544). */
const addressOf = (at: number): string => `198.18.0.${at}`;
const target = addressOf(254);

const ip = (...parameters: readonly string[]): void =>
  void execFileSync("ip", parameters, { stdio: ["ignore", "ignore", "pipe"] });

/** Forwards connections, byte by byte, from the bridge to loopback. */
const forwarder = `
const net = require("node:net");
const ports = process.argv.slice(1);
let open = 0;
for (const port of ports)
  net.createServer((from) => {
    const to = net.connect(Number(port), "127.0.0.1");
    for (const [one, other] of [[from, to], [to, from]]) one.setNoDelay(true).on("error", () => other.destroy()).pipe(other);
  }).listen(Number(port), "${target}", () => (open += 1) === ports.length && console.log("open"));
process.stdin.on("end", () => process.exit()).resume();
`;

export const createHosts = (count: number): Hosts => {
  const nameOf = (at: number): string => `touchstone-${process.pid}-${at}`;
  const hub = nameOf(0);
  const stops: (() => Promise<unknown>)[] = [];
  const names = [hub];
  ip("netns", "add", hub);
  ip("-n", hub, "link", "set", "lo", "up");
  ip("-n", hub, "link", "add", "bridge", "type", "bridge");
  ip("-n", hub, "addr", "add", `${target}/24`, "dev", "bridge");
  ip("-n", hub, "link", "set", "bridge", "up");
  for (let at = 1; at <= count; at += 1) {
    const name = nameOf(at);
    ip("netns", "add", name);
    names.push(name);
    ip("-n", hub, "link", "add", `to-${at}`, "type", "veth", "peer", "name", "eth0", "netns", name);
    ip("-n", hub, "link", "set", `to-${at}`, "master", "bridge", "up");
    ip("-n", name, "addr", "add", `${addressOf(at)}/24`, "dev", "eth0");
    for (const device of ["lo", "eth0"]) ip("-n", name, "link", "set", device, "up");
  }
  const inside = (name: string, host: string, command: readonly string[]): readonly [string, ...string[]] => [
    ...(["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c"] as const),
    `hostname "$0" && exec "$@"`,
    host,
    ...command,
  ];
  const onTarget = (command: readonly string[]) => inside(hub, "target", command);
  return {
    on: (machine, command) => inside(nameOf(machine), `machine-${machine}`, command),
    onTarget,
    cut: (machine) => ip("-n", nameOf(machine), "link", "set", "eth0", "down"),
    open: async (profileFile) => {
      const text = readFileSync(profileFile, "utf8");
      const ports = new Set([...text.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => port ?? ""));
      const [file, ...parameters] = onTarget([process.execPath, "-e", forwarder, ...ports]);
      const child = spawn(file, parameters, { stdio: ["pipe", "pipe", "inherit"] });
      const ended = once(child, "close");
      stops.push(() => {
        child.stdin.end();
        return ended;
      });
      await once(child.stdout, "data");
      const profile = JSON.parse(text.replaceAll("127.0.0.1", target)) as { readonly safety?: object };
      const safety = { ...profile.safety, hosts: [target] };
      writeFileSync(profileFile, JSON.stringify({ ...profile, safety }), { mode: 0o600 });
    },
    [Symbol.asyncDispose]: async () => {
      for (const stop of stops) await stop();
      for (const name of names) ip("netns", "del", name);
    },
  };
};
