import { expect, it } from "vitest";
import { allowedHere, connectionsWithin } from "./own-limits.ts";

const files: Readonly<Record<string, string>> = {
  "/proc/self/limits": `Limit                     Soft Limit           Hard Limit           Units
Max processes             15000                15000                processes
Max open files            64                   4096                 files
`,
  "/proc/sys/net/ipv4/ip_local_port_range": "40000\t40149\n",
};

it("the limits of the machine are read as Linux words them, and are unknown elsewhere", () => {
  expect(allowedHere((file) => files[file])).toEqual({ "open files": 4_096, "local ports": 150 });
  expect(allowedHere(() => undefined)).toEqual({});
});

it("a gate keeps as many connections as open files are allowed, and names the number that it needs", () => {
  expect(connectionsWithin({})).toBe(64);
  expect(connectionsWithin({ "open files": 1_024 }, 100)).toBe(100);
  expect(connectionsWithin({ "open files": 256 }, undefined, "in this process")).toBe(28);
  expect(() => connectionsWithin({ "open files": 64 })).toThrow(
    "Touchstone itself may open 64 files here, and a gate needs 128; allow more with `ulimit -n 128`",
  );
});
