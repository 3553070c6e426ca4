import { CommanderError } from "@commander-js/extra-typings";
import { describe, expect, it } from "vitest";
import { ConfigurationError, listenError, UnreachableError } from "../../conformance/contract/problem.ts";
import { findBehaviour } from "../../fake-server/behaviours.ts";
import { parseClients } from "../../fake-server/clients.ts";
import { parsePlan } from "../../fake-server/receiver/plan.ts";
import { k6Missing } from "../../scenarios/runner/k6/problems.ts";
import { endingOf } from "./exit.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";

const thrownBy = (work: () => unknown): unknown => {
  try {
    return expect.unreachable(String(work()));
  } catch (error) {
    return error;
  }
};

const listenFails = (code: string): unknown => listenError(Object.assign(new Error(code), { code }), "h", 80);

describe("what an error comes to", () => {
  it.each([
    ["a sentence", new ConfigurationError("--rate is wrong")],
    ["a key", new ConfigurationError([{ key: "--rate", value: "x", accepted: "a number", remedy: "try 5" }])],
    ["a behaviour", thrownBy(() => findBehaviour("soun"))],
    ["clients", thrownBy(() => parseClients([]))],
    ["names the user's mistake: %s", thrownBy(() => parsePlan({ answers: 3 }))],
    ["a port", listenFails("EADDRINUSE")],
    ["a port of the system", listenFails("EACCES")],
    ["an address of another machine", listenFails("EADDRNOTAVAIL")],
    ["a name that is unknown", listenFails("ENOTFOUND")],
    ["k6", k6Missing([])],
  ])("the user has to mend %s", (_, error) => {
    const { exitCode, message } = endingOf(error, false);
    expect(exitCode).toBe(exitCodes.usage);
    expect(message).toContain((error as Error).message.split("\n")[0]);
    expect(message).not.toContain("internal error");
  });

  it("a problem names its key, its value, what is accepted, and the remedy", () => {
    const problem = { key: "--rate", value: "x", accepted: "a number", remedy: "try 5" };
    expect(new ConfigurationError([problem]).message).toBe('--rate is "x"; accepted is a number; try 5');
  });

  it("the target cannot be reached", () => {
    expect(endingOf(new UnreachableError("no answer"), false)).toEqual({
      exitCode: exitCodes.unreachable,
      message: "touchstone: no answer",
    });
  });

  it.each([new TypeError("x is not a function"), "a text"])("reports an internal error: %s", (error) => {
    expect(endingOf(error, false).exitCode).toBe(exitCodes["harness-error"]);
  });

  it("treats whatever an interruption breaks as the interruption, without a message", () => {
    expect(endingOf(new TypeError("aborted"), true)).toEqual({ exitCode: exitCodes.interrupted });
  });

  it("prints nothing for errors that commander has printed, nor for --help", () => {
    expect(endingOf(new CommanderError(1, "commander.unknownOption", "unknown option"), false)).toEqual({
      exitCode: exitCodes.usage,
    });
    expect(endingOf(new CommanderError(0, "commander.helpDisplayed", "(outputHelp)"), false)).toEqual({
      exitCode: exitCodes.passed,
    });
  });

  it("indents further lines of a message", () => {
    const { message } = endingOf(new ConfigurationError(["one", "two"]), false);
    expect(message).toBe("touchstone: one\n            two");
  });
});
