import { describe, expect, it } from "vitest";
import { commands } from "../program.ts";
import type { CommandContext } from "./context.ts";
import { endingOf, complainThrough, createOutput, type Output } from "./output.ts";
import { acting, ciCommand, unsafeCharacters } from "../../reports/testing/fixture.ts";
import { CommanderError } from "@commander-js/extra-typings";
import { ConfigurationError, listenError, UnreachableError } from "../../conformance/contract/problem.ts";
import { findBehaviour } from "../../fake-server/behaviours.ts";
import { parseClients } from "../../fake-server/clients.ts";
import { parsePlan } from "../../fake-server/receiver/plan.ts";
import { k6Missing } from "../../scenarios/runner/k6/find.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { wantsColour } from "../../reports/terminal/palette.ts";

const captured = (colour = false) => {
  const written: string[] = [];
  const stream = { columns: 80, write: (text: string) => written.push(text) > 0 };
  const output = createOutput(() => ({ quiet: false, detail: "brief", json: false, colour }), {
    stdout: stream,
    stderr: stream,
  });
  return { output, written };
};

describe("control characters are escaped", () => {
  it.each(["print", "say", "complain"] as const)("by %s", (stream) => {
    const { output, written } = captured();
    output[stream](`first ${acting}\nsecond`);
    const text = written.join("");
    expect(text).not.toMatch(unsafeCharacters);
    expect(text).toContain(String.raw`b\u202ec\u200bd\x00\x9be\ud800f\u{e0041}g\u2028h\u3164i\u034fj\ufe0f`);
    expect(text).toMatch(/\nsecond\n$/);
  });

  it("by printJson, which still prints the same values", () => {
    const { output, written } = captured();
    output.printJson({ acting });
    expect(written.join("")).not.toMatch(unsafeCharacters);
    expect(JSON.parse(written.join(""))).toEqual({ acting });
  });

  it("except for the program's own colours, if enabled", () => {
    const { output, written } = captured(true);
    output.print("\u001b[31mred\u001b[39m \u001b[2J\u202e");
    expect(written.join("")).toBe("\u001b[31mred\u001b[39m \\x1b[2J\\u202e\n");
  });
});

describe("text from outside starts no command of a CI service", () => {
  const faked =
    "seen:\n   ::stop-commands::x\n::error::y\na ##[add-mask]b ##vso[task.complete]c ##TeamCity[x] [::1] ::1";

  it.each(["print", "say", "complain"] as const)("by %s", (stream) => {
    const { output, written } = captured();
    output[stream](faked);
    expect(written.join("")).not.toMatch(ciCommand);
    expect(written.join("")).toContain("\n   :\\x3astop-commands::x\n");
    expect(written.join("")).toContain(String.raw`#\x23vso[task.complete]c #\x23TeamCity[x] [::1] ::1`);
  });

  it("by printJson, which still prints the same values", () => {
    const { output, written } = captured();
    output.printJson({ faked });
    expect(written.join("")).not.toMatch(ciCommand);
    expect(JSON.parse(written.join(""))).toEqual({ faked });
  });

  it("but annotations are such commands, one to a line", () => {
    const { output, written } = captured();
    output.annotate("::error title=a::b\n::stop-commands::x");
    expect(written).toEqual([String.raw`::error title=a::b\n::stop-commands::x` + "\n"]);
  });
});

describe("user input in error messages is escaped", () => {
  const contextOf = (output: Output): CommandContext => ({
    output,
    environment: {},
    clock: undefined as never,
    signal: new AbortController().signal,
    interrupt: () => undefined,
    recordingBegins: () => undefined,
    exitWith: () => undefined,
    freshUuid: () => "00000000-0000-4000-8000-000000000000",
    freshSeed: () => 1,
    programName: "touchstone",
    programFile: "cli.ts",
  });

  const typed = async (create: (typeof commands)[number], parameters: readonly string[]): Promise<string> => {
    const { output, written } = captured();
    const command = create(contextOf(output)).exitOverride().showHelpAfterError("(see --help)");
    complainThrough(output, command);
    try {
      await command.parseAsync(parameters, { from: "user" });
    } catch (error) {
      const { message } = endingOf(error, false);
      if (message !== undefined) output.complain(message);
    }
    return written.join("");
  };

  it.each(commands.map((create) => [create(contextOf(captured().output)).name(), create] as const))(
    "by the command %s",
    async (_name, create) => {
      const { options } = create(contextOf(captured().output));
      const flags = options.flatMap(({ long, required }) => (required && long ? [long] : []));
      // Unknown flags come last, so that no command starts its work.
      const lines = [[acting, `--${acting}`], ...flags.map((flag) => [flag, acting, `--${acting}`])];
      for (const parameters of lines) {
        const text = await typed(create, parameters);
        expect(text).toContain(String.raw`b\u202ec`);
        expect(text).not.toMatch(unsafeCharacters);
      }
    },
  );
});

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

const terminal = { isTTY: true };
/** For a pipe or a file, Node does not set isTTY. */
const pipe = {};

it.each([
  ["a terminal", true, {}, terminal],
  ["a pipe", false, {}, pipe],
  ["a pipe in a CI job", false, { CI: "true" }, pipe],
  ["a terminal without colours", false, { TERM: "dumb" }, terminal],
  ["a terminal with NO_COLOR", false, { NO_COLOR: "1" }, terminal],
  ["a terminal with an empty NO_COLOR", true, { NO_COLOR: "" }, terminal],
  ["a pipe with FORCE_COLOR", true, { FORCE_COLOR: "1" }, pipe],
  ["a terminal with FORCE_COLOR=0", false, { FORCE_COLOR: "0" }, terminal],
  ["a pipe with FORCE_COLOR and NO_COLOR", false, { FORCE_COLOR: "1", NO_COLOR: "1" }, pipe],
])("on %s, colours are used: %s", (_, coloured, environment, stream) => {
  expect(wantsColour(environment, stream)).toBe(coloured);
});
