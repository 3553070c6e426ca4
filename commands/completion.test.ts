import path from "node:path";
import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { folderOfFile } from "../conformance/testing/folders.ts";
import { ended } from "../conformance/testing/installed.ts";
import { runHere } from "../conformance/testing/run-here.ts";

const folder = folderOfFile();

it("completes commands, flags and their values in bash", async () => {
  const { stdout } = await runHere(["completion", "bash"]);
  const file = path.join(folder, "completion.bash");
  writeFileSync(file, stdout);
  const completed = async (...words: readonly string[]): Promise<string> => {
    const given = `COMP_WORDS=(${words.map((word) => `"${word}"`).join(" ")})`;
    const script = `. "${file}"; ${given}; COMP_CWORD=${words.length - 1}; _touchstone; echo "\${COMPREPLY[@]}"`;
    return (await ended("bash", ["-c", script], {})).stdout.trim();
  };
  expect(await completed("touchstone", "comp")).toBe("compare completion");
  expect(await completed("touchstone", "load", "--quiet", "--sh")).toBe("--shape");
  expect(await completed("touchstone", "conform", "--effort", "")).toBe("quick standard thorough");
  expect(await completed("touchstone", "run", "--only", "code.life")).toMatch(/^code\.lifetime /);
});

it("gives fish every command and flag", async () => {
  const { stdout } = await runHere(["completion", "fish"]);
  expect(stdout).toMatch(/^complete -c touchstone -n __fish_use_subcommand -f -a duet -d '.+'$/m);
  expect(stdout).toMatch(/__fish_seen_subcommand_from report' -l report -r -d '.+'$/m);
});
