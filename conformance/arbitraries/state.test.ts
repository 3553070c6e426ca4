import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  foreigners,
  foreignProbes,
  placed,
  positions,
  encodedThroughout,
  tellingStates,
  validStates,
} from "./state.ts";

const valid = /^[a-zA-Z0-9]{1,128}$/;

/** The texts that a service may get from the raw text: decoded, with a plus as a space or as itself, or not decoded. */
const readings = (raw: string): readonly string[] => {
  const found = [Buffer.from(raw, "latin1").toString("utf8")];
  for (const text of [raw, raw.replaceAll("+", " ")]) {
    try {
      found.push(decodeURIComponent(text));
    } catch {
      // Malformed text has no right decoding; a service refuses it, or takes it as it is.
    }
  }
  return found;
};

test("no probe is a valid state, however it is decoded", () => {
  for (const state of ["41aB3c", "ffffffffffff", "0"])
    for (const { raw } of foreigners)
      for (const position of positions) {
        if ((raw === "%" || raw === "%4") && (position === "start" || position === "middle")) continue;
        const text = placed(state, raw, position, 128);
        expect(readings(text).filter((reading) => valid.test(reading))).toEqual([]);
        expect(Buffer.byteLength(readings(text).at(-1) ?? "")).toBeLessThanOrEqual(128);
      }
});

test("incomplete percent-encodings are only placed at the end, where no letters can complete them", () => {
  const unfinished = foreignProbes(7, true).filter(({ raw }) => raw === "%" || raw === "%4");
  expect([...new Set(unfinished.map(({ position }) => position))]).toEqual(["end", "far end"]);
});

test("generated and hand-picked states are valid and survive percent-encoding", () => {
  fc.assert(fc.property(validStates(128), (state) => valid.test(state)));
  fc.assert(fc.property(validStates(128), (state) => decodeURIComponent(encodedThroughout(state)) === state));
  expect(tellingStates(128).filter((state) => !valid.test(state))).toEqual([]);
});
