import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../conformance/testing/measure.ts";
import { installedVersion } from "../../scenarios/runner/k6/find.ts";

/** The fault of a machine's wall clock. Its timers are right, as on real machines. */
export interface Shift {
  readonly ms: number;
  /** Parts per million by which it runs fast from `sinceMs` on (milliseconds since 1970). */
  readonly driftPpm?: number;
  readonly sinceMs?: number;
}

const cache = path.join(root, "node_modules/.cache/k6-with-clock");

const goSource = `package time

import "syscall"

var shiftMs, driftPpm, sinceMs = number("CLOCK_SHIFT_MS"), number("CLOCK_DRIFT_PPM"), number("CLOCK_SINCE_MS")

func number(name string) int64 {
	text, _ := syscall.Getenv(name)
	value, _ := atoi(text)
	return int64(value)
}

func shiftedNow() (int64, int32, int64) {
	sec, nsec, mono := runtimeNow()
	ns := sec*1e9 + int64(nsec)
	if driftPpm != 0 {
		ns += (ns - sinceMs*1e6) / 1e6 * driftPpm
	}
	ns += shiftMs * 1e6
	return ns / 1e9, int32(ns % 1e9), mono
}
`;

/**
 * k6 with a wall clock set by its environment. libfaketime does not work because k6 is linked statically, and Linux has
 * no wall-clock namespace; so Go's time package is built with a changed \`Now\`. Needs Go; the first time it builds all
 * of k6.
 */
const shiftableK6 = (): string => {
  const binary = path.join(cache, "k6");
  if (existsSync(binary)) return binary;
  mkdirSync(cache, { recursive: true });
  const time = path.join(execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim(), "src/time");
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(cache, name), text);
    return path.join(cache, name);
  };
  const now = readFileSync(path.join(time, "time.go"), "utf8");
  const called = "sec, nsec, mono := runtimeNow()";
  if (!now.includes(called)) throw new Error("this version of Go reads its clock in another way");
  const overlay = {
    Replace: {
      [path.join(time, "time.go")]: file("time.go", now.replace(called, "sec, nsec, mono := shiftedNow()")),
      [path.join(time, "shift.go")]: file("shift.go", goSource),
    },
  };
  process.stdout.write("  building a k6 whose clock can be shifted\n");
  const flags = ["install", "-p", "2", `-overlay=${file("overlay.json", JSON.stringify(overlay))}`];
  const { status, stderr } = spawnSync("nice", ["go", ...flags, `go.k6.io/k6@v${installedVersion}`], {
    env: { ...process.env, GOBIN: cache, GOFLAGS: "-trimpath", CGO_ENABLED: "0" },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`k6 could not be built: ${stderr.slice(-2_000)}`);
  return binary;
};

/** The same for the runner, which reads its wall clock only by Date. */
const shiftedDate = ({ ms, driftPpm = 0, sinceMs = 0 }: Shift): string => {
  const source = `const Sound = Date;
const now = () => { const at = Sound.now(); return Math.floor(at + ${ms} + (at - ${sinceMs}) * ${driftPpm} / 1e6); };
globalThis.Date = class Date extends Sound {
  constructor(...values) { if (values.length === 0) super(now()); else super(...values); }
  static now() { return now(); }
};`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
};

/**
 * The environment of a Touchstone on a machine with such a clock; the folder receives the script that starts its k6.
 */
export const environmentOf = (shift: Shift, folder: string): NodeJS.ProcessEnv => {
  const start = path.join(folder, "k6");
  const { ms, driftPpm = 0, sinceMs = 0 } = shift;
  const set = `CLOCK_SHIFT_MS=${ms} CLOCK_DRIFT_PPM=${driftPpm} CLOCK_SINCE_MS=${sinceMs}`;
  writeFileSync(start, `#!/bin/sh\n${set} exec "${shiftableK6()}" "$@"\n`, { mode: 0o755 });
  return { TOUCHSTONE_K6: start, NODE_OPTIONS: `--import=${shiftedDate(shift)}` };
};
