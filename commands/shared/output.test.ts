import { describe, expect, it } from "vitest";
import { commands } from "../index.ts";
import type { CommandContext } from "./context.ts";
import { endingOf } from "./exit.ts";
import { acting, ciCommand, unsafeCharacters } from "../../reports/testing/hostile.ts";
import { complainThrough, createOutput, type Output } from "./output.ts";

const captured = (manner = { quiet: false, json: false, colour: false }) => {
  const written: string[] = [];
  const stream = { columns: 80, write: (text: string) => written.push(text) > 0 };
  const output = createOutput(() => manner, { stdout: stream, stderr: stream });
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
    const { output, written } = captured({ quiet: false, json: false, colour: true });
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
