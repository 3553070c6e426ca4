import { CommanderError } from "@commander-js/extra-typings";
import { describe, expect, it } from "vitest";
import { ConfigurationError, listenError, UnreachableError } from "../../conformance/contract/problem.ts";
import { findBehaviour } from "../../fake-server/behaviours.ts";
import { parseClients } from "../../fake-server/clients.ts";
import { parsePlan } from "../../fake-server/receiver/plan.ts";
import { k6Missing } from "../../scenarios/runner/k6/find.ts";
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

describe("an error that ends the program", () => {
  it.each([
    ["a configuration error with a sentence", new ConfigurationError("--rate is wrong")],
    [
      "a configuration error with a key",
      new ConfigurationError([{ key: "--rate", value: "x", accepted: "a number", remedy: "try 5" }]),
    ],
    ["an unknown behaviour", thrownBy(() => findBehaviour("soun"))],
    ["an empty list of clients", thrownBy(() => parseClients([]))],
    ["an invalid answer plan", thrownBy(() => parsePlan({ answers: 3 }))],
    ["a port in use", listenFails("EADDRINUSE")],
    ["a privileged port", listenFails("EACCES")],
    ["an address that is not local", listenFails("EADDRNOTAVAIL")],
    ["an unknown host name", listenFails("ENOTFOUND")],
    ["a missing k6", k6Missing([])],
  ])("exits with 2 and its message for %s", (_, error) => {
    const { exitCode, message } = endingOf(error, false);
    expect(exitCode).toBe(exitCodes.usage);
    expect(message).toContain((error as Error).message.split("\n")[0]);
    expect(message).not.toContain("internal error");
  });

  it("states the key, its value, what is accepted and the remedy of a configuration problem", () => {
    const problem = { key: "--rate", value: "x", accepted: "a number", remedy: "try 5" };
    expect(new ConfigurationError([problem]).message).toBe('--rate is "x"; accepted is a number; try 5');
  });

  it.each([
    ["ENOSPC", "the disk is full"],
    ["EDQUOT", "the disk quota is used up"],
    ["EFBIG", "the file is larger than allowed here"],
  ])("exits with 5 and says where there is no room, without a stack, for %s", (code, reason) => {
    const { exitCode, message } = endingOf(Object.assign(new Error(code), { code }), false);
    expect(exitCode).toBe(exitCodes["harness-error"]);
    expect(message).toMatch(new RegExp(`could not be written: ${reason}.*TMPDIR`));
    expect(message).not.toContain("internal error");
  });

  it("exits with 4 if the target cannot be reached", () => {
    expect(endingOf(new UnreachableError("no answer"), false)).toEqual({
      exitCode: exitCodes.unreachable,
      message: "touchstone: no answer",
    });
  });

  it.each([new TypeError("x is not a function"), "a text"])(
    "exits with 5 for an internal error: %s",
    (error) => {
      expect(endingOf(error, false).exitCode).toBe(exitCodes["harness-error"]);
    },
  );

  it("exits with 130 and no message after an interruption, whatever the error", () => {
    expect(endingOf(new TypeError("aborted"), true)).toEqual({ exitCode: exitCodes.interrupted });
  });

  it("prints nothing for errors that Commander already printed, or for --help", () => {
    expect(endingOf(new CommanderError(1, "commander.unknownOption", "unknown option"), false)).toEqual({
      exitCode: exitCodes.usage,
    });
    expect(endingOf(new CommanderError(0, "commander.helpDisplayed", "(outputHelp)"), false)).toEqual({
      exitCode: exitCodes.passed,
    });
  });

  it("is printed with its further lines indented", () => {
    const { message } = endingOf(new ConfigurationError(["one", "two"]), false);
    expect(message).toBe("touchstone: one\n            two");
  });
});
