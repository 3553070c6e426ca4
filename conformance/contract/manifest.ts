import Type, { type Static } from "typebox";
import { byName, text } from "./schema.ts";

/** The file that is written last when a run is sealed: what the other files of the run directory were then. */
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
    files: byName(
      "By path below the run directory, with slashes; the manifest itself is not among them.",
      Entry,
    ),
  },
  { $id: "touchstone-manifest-1" },
);
export type Manifest = Static<typeof Manifest>;

/** The manifest of these files, in the order of their names. */
export const manifestOf = (files: Readonly<Record<string, ManifestEntry>>): Manifest => ({
  version: manifestVersion,
  files: Object.fromEntries(Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1))),
});
