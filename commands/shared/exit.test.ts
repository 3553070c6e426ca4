import { CommanderError } from "@commander-js/extra-typings";
import { describe, expect, it } from "vitest";
import { exitCodes } from "../../conformance/contract/record.ts";
import { ConfigurationError, UnreachableError } from "../../conformance/problem.ts";
import { UnknownBehaviour } from "../../fake-server/behaviours.ts";
import { InvalidClients } from "../../fake-server/clients.ts";
import { UnusableData } from "../../fake-server/delivery/data.ts";
import { FakeNotStarted } from "../../fake-server/process.ts";
import {
  InvalidCertificate,
  InvalidJournal,
  InvalidPlan,
  InvalidReceiver,
  PortInUse,
} from "../../fake-server/receiver/problems.ts";
import { IncomparableRuns } from "../../reports/compare/problem.ts";
import { UnreadableRun } from "../../reports/read/problem.ts";
import { UnwritableReport } from "../../reports/write.ts";
import { K6Missing } from "../../scenarios/runner/k6/problems.ts";
import { InvalidLoad } from "../../scenarios/runner/problem.ts";
import { TargetNotAnswering } from "../../scenarios/runner/start-target.ts";
import { endingOf } from "./exit.ts";

/** The parts' own errors, which the mapping knows by name alone: one that was renamed there would be an error of the harness here. */

describe("what an error comes to", () => {
  it.each([
    new ConfigurationError(["--rate is wrong"]),
    new UnknownBehaviour("soun"),
    new InvalidClients("clients"),
    new InvalidCertificate("certificate"),
    new InvalidJournal("journal"),
    new InvalidPlan(["plan"]),
    new InvalidReceiver("receiver"),
    new PortInUse(80),
    new UnusableData("data"),
    new IncomparableRuns("runs"),
    new UnreadableRun("run"),
    new UnwritableReport("report.html", "read-only"),
    new InvalidLoad(["load"]),
    new K6Missing([]),
    new FakeNotStarted("a behaviour that is none", exitCodes.usage),
  ])("the user has to mend it: $name", (error) => {
    const { exitCode, message } = endingOf(error, false);
    expect(exitCode).toBe(exitCodes.usage);
    expect(message).toContain(error.message.split("\n")[0]);
    expect(message).not.toContain("error of the harness");
  });

  it.each([new UnreachableError("nobody there"), new TargetNotAnswering("nobody there")])(
    "the target cannot be reached: $name",
    (error) => {
      expect(endingOf(error, false)).toEqual({
        exitCode: exitCodes.unreachable,
        message: "touchstone: nobody there",
      });
    },
  );

  it.each([new TypeError("x is not a function"), "a text", new FakeNotStarted("it died", undefined)])(
    "the harness itself broke: %s",
    (error) => {
      expect(endingOf(error, false).exitCode).toBe(exitCodes["harness-error"]);
    },
  );

  it("whatever an interruption breaks is an interruption, and is not told", () => {
    expect(endingOf(new TypeError("aborted"), true)).toEqual({ exitCode: exitCodes.interrupted });
  });

  it("commander has told of its errors already, and --help is none", () => {
    expect(endingOf(new CommanderError(1, "commander.unknownOption", "unknown option"), false)).toEqual({
      exitCode: exitCodes.usage,
    });
    expect(endingOf(new CommanderError(0, "commander.helpDisplayed", "(outputHelp)"), false)).toEqual({
      exitCode: exitCodes.passed,
    });
  });

  it("further lines of a message stand under its first", () => {
    const { message } = endingOf(new ConfigurationError(["one", "two"]), false);
    expect(message).toBe("touchstone: one\n            two");
  });
});
