import { expect, test } from "vitest";
import { mutated, mutationsOf } from "./mutate.ts";

const mutants = (source: string): readonly string[] =>
  mutationsOf("a.ts", source).map((mutation) => mutated(source, mutation));

test.each([
  ["while (a < b) {}", ["while (false) {}", "while ((a <= b)) {}", "while ((a >= b)) {}"]],
  ["let a = b ?? !c;", ["let a = (b && !c);", "let a = b ?? c;"]],
  ["if (a) return;", ["if (true) return;", "if (a) ;"]],
  ["if (a) b(); else c();", ["if (true) b(); else c();", "if (false) b(); else c();", "if (a) ; else c();"]],
  ["a += 7;", [";", "a -= 7;", "a += (7 + 1);", "a += (7 - 1);", "a += (7 * 10);"]],
  ["let a = { ...b, c: true };", ["let a = { ...[], c: true };", "let a = { ...b, ...[] };"]],
  ["let a = /^[a-z]+$/;", ["let a = /[a-z]+$/;", "let a = /^[a-z]+/;", "let a = /^[a-z]$/;"]],
  ['let a = (b: "x") => b + "";', ['let a = (b: "x") => undefined;', 'let a = (b: "x") => (b - "");']],
  ["const a = () => { b(); c(); };", ["const a = () => {};", "const a = () => { ; c(); };"]],
  ['import a from "b"; let c = [a as "d"];', ['import a from "b"; let c = [];']],
])("mutates %s", (source, expected) => {
  expect(mutants(source)).toEqual(expect.arrayContaining(expected));
});

test("leaves types and names of properties unchanged", () => {
  expect(mutants('interface A { b: "c" } let d = { "e": d satisfies 1 };')).toEqual([
    'interface A { b: "c" } let d = { ...[] };',
  ]);
});
