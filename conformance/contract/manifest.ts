import Type, { type Static } from "typebox";
import { byName, text } from "./schema.ts";

/** The file written last when a run is sealed: sizes and digests of all other files in the run directory. */
export const manifestFile = "manifest.json";

const manifestVersion = 1;

const Entry = Type.Object({
  bytes: Type.Integer({ minimum: 0 }),
  sha256: text("Hexadecimal.", { pattern: "^[0-9a-f]{64}$" }),
});
export type ManifestEntry = Static<typeof Entry>;

export const Manifest = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    files: byName("By path relative to the run directory, with slashes; without the manifest itself.", Entry),
  },
  { $id: "touchstone-manifest-1" },
);
export type Manifest = Static<typeof Manifest>;

/** The manifest of these files, ordered by name. */
export const manifestOf = (files: Readonly<Record<string, ManifestEntry>>): Manifest => ({
  version: manifestVersion,
  files: Object.fromEntries(Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1))),
});
