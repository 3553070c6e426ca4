import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { examples } from "./init-text.ts";
import { profileFromFlags, profileSchema, writeProfile, writeSchema, profileNameAt } from "./init.ts";
import { checkProfile } from "./profile-check.ts";
import { loadProfile } from "./profile.ts";
import { eachTestIn } from "../testing/folders.ts";

let folder: string;
eachTestIn((made) => (folder = made));
const module = path.resolve(import.meta.dirname, "../contract/profile.ts");
const answers = {
  baseUrl: "https://service.example",
  clients: [{ id: 'one "and" only', secret: { env: "ONE" }, redirectUri: "https://client.example/" }],
};
const into = (name: string, more: Partial<Parameters<typeof writeProfile>[1]> = {}) => ({
  file: path.join(folder, name),
  force: false,
  importFrom: module,
  ...more,
});

describe("a new profile", () => {
  it.each(["touchstone.config.ts", "profile.json"])("written as %s can be loaded unchanged", async (name) => {
    writeProfile(answers, into(name));
    const { profile, clients } = await loadProfile(path.join(folder, name), { ONE: "secret" });
    expect(profile.baseUrl).toBe(answers.baseUrl);
    expect(clients).toEqual([
      { id: 'one "and" only', secret: "secret", redirectUri: "https://client.example/" },
    ]);
    expect(readdirSync(folder)).toEqual([name]);
  });

  it("is valid with all of its examples uncommented", async () => {
    writeProfile(answers, into("commented.ts"));
    const text = readFileSync(path.join(folder, "commented.ts"), "utf8");
    // What is code under the comments begins with a key, a bracket or further blanks.
    const uncommented = text.replaceAll(/^ {2}\/\/ ((?:\w+: [[{]| {2}|[}\]]).*)$/gm, "  $1");
    writeFileSync(path.join(folder, "uncommented.ts"), uncommented);
    const { default: profile } = (await import(path.join(folder, "uncommented.ts"))) as { default: unknown };
    const parts = examples(answers.baseUrl);
    expect(checkProfile(profile)).toMatchObject(Object.assign({}, ...parts.map(([, part]) => part)));
  });

  it("does not overwrite an existing file without --force", () => {
    const target = into("profile.json");
    writeFileSync(target.file, "mine");
    expect(() => writeProfile(answers, target)).toThrow(/already exists; --force/);
    expect(readFileSync(target.file, "utf8")).toBe("mine");
    writeProfile(answers, { ...target, force: true });
    expect(readFileSync(target.file, "utf8")).toContain("service.example");
  });

  it.each([
    ["an unknown file name extension", "p.yaml", /--out is .*p\.yaml.*\.ts, \.mts or \.json/],
    ["a folder that does not exist", "none/p.ts", /cannot be written: there is no such folder/],
  ])("is not written with %s", (_, name, message) => {
    expect(() => writeProfile(answers, into(name))).toThrow(message);
    expect(existsSync(path.join(folder, name))).toBe(false);
  });

  it("in JSON refers to its schema, and is valid under it", () => {
    const schemaFile = path.join(folder, "schemas.json");
    writeProfile(answers, into("profile.json", { schemaFile }));
    writeSchema(schemaFile, false);
    const profile = JSON.parse(readFileSync(path.join(folder, "profile.json"), "utf8")) as object;
    expect(profile).toHaveProperty("$schema", "./schemas.json");
    const validate = new Ajv({ strict: false }).compile(
      JSON.parse(readFileSync(schemaFile, "utf8")) as object,
    );
    expect(validate(profile)).toBe(true);
    expect(validate({ ...profile, baseURL: 1 })).toBe(false);
    expect(Object.keys(profileSchema()["properties"] as object)).toContain("network");
  });
});

describe("the name of a new profile", () => {
  const nameIn = (packageJson: string | undefined, canImport = true): string => {
    if (packageJson !== undefined) writeFileSync(path.join(folder, "package.json"), packageJson);
    return profileNameAt(path.join(folder, "gate"), canImport);
  };

  it.each([
    ["a package of modules", '{ "type": "module" }', "touchstone.config.ts"],
    ["a package of CommonJS", '{ "type": "commonjs" }', "touchstone.config.mts"],
    ["a package without a type", "{}", "touchstone.config.mts"],
    ["a package with invalid JSON in its package.json", "{", "touchstone.config.mts"],
  ])("has an extension that loads in %s", (_, packageJson, name) => {
    expect(nameIn(packageJson)).toBe(name);
  });

  it("ends in .json if defineProfile cannot be imported", () => {
    expect(nameIn('{ "type": "module" }', false)).toBe("touchstone.config.json");
  });

  it("is refused if the file would not load", () => {
    writeFileSync(path.join(folder, "package.json"), '{ "type": "commonjs" }');
    expect(() => writeProfile(answers, into("p.ts"))).toThrow(/would not load.*"type": "commonjs".*\.mts/);
    expect(() => writeProfile(answers, into("p.mts", { importFrom: undefined }))).toThrow(
      /not installed there.*\.json/,
    );
    expect(readdirSync(folder)).toEqual(["package.json"]);
  });
});

describe("the values for a new profile", () => {
  const flags = {
    baseUrl: "https://x.example/",
    clientId: ["a"],
    secretEnv: ["A"],
    redirectUri: ["https://a/"],
  };

  it("are taken from flags", () => {
    const first = { id: "a", secret: { env: "A" }, redirectUri: "https://a/" };
    expect(profileFromFlags(flags)).toEqual({ baseUrl: "https://x.example", clients: [first] });
    const two = {
      ...flags,
      clientId: ["a", "b"],
      secretEnv: ["A", "B"],
      redirectUri: ["https://a/", "https://b/"],
    };
    expect(profileFromFlags(two).clients).toHaveLength(2);
    expect(writeProfile(profileFromFlags(two), into("two.ts"))).toEqual([]);
  });

  it.each(["p.ts", "p.json"])("that flags leave out are named by their lines of %s", (name) => {
    const lines = writeProfile(
      profileFromFlags({ ...flags, baseUrl: undefined, clientId: ["a", "b"] }),
      into(name),
    );
    const text = readFileSync(path.join(folder, name), "utf8").split("\n");
    expect(lines.map((line) => text[line - 1]?.trim().replace(/,$/, ""))).toEqual([
      expect.stringMatching(/baseUrl.*"https:\/\/staging\.example"$/),
      expect.stringMatching(/redirectUri.*"https:\/\/client\.example\/callback"/),
    ]);
    expect(text.join("\n")).toContain("CLIENT_2_SECRET");
  });
});
