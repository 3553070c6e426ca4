import { gunzipSync, inflateRawSync } from "node:zlib";

/** The content of the one file of this name in an archive, wherever in it that is. Throws an Error where there is none. */
export const fileInArchive = (archive: Buffer, kind: "tar.gz" | "zip", name: string): Buffer => {
  const found = kind === "zip" ? inZip(archive, name) : inTar(gunzipSync(archive), name);
  if (found === undefined) throw new Error(`there is no ${name} in the archive`);
  return found;
};

const BLOCK = 512;
const REGULAR_FILES = ["0", "\0"];

/** POSIX ustar: a header block with a name, a size in octal and a type, then the content in whole blocks. */
const inTar = (tar: Buffer, name: string): Buffer | undefined => {
  for (let at = 0; at + BLOCK <= tar.length;) {
    const path = text(tar, at, 100);
    const size = Number.parseInt(text(tar, at + 124, 12), 8) || 0;
    const type = String.fromCharCode(tar[at + 156] ?? 0);
    const start = at + BLOCK;
    if (REGULAR_FILES.includes(type) && isNamed(path, name)) {
      if (start + size > tar.length) throw new Error("the archive is cut off");
      return tar.subarray(start, start + size);
    }
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
};

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const END_LENGTH = 22;
const STORED = 0;

/** ZIP (APPNOTE 4.3): the directory at the end names each entry and where its own header stands. */
const inZip = (zip: Buffer, name: string): Buffer | undefined => {
  let end = zip.length - END_LENGTH;
  while (end >= 0 && zip.readUInt32LE(end) !== END_OF_DIRECTORY) end -= 1;
  if (end < 0) throw new Error("the archive is cut off");
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (zip.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error("the archive's directory is damaged");
    const nameLength = zip.readUInt16LE(at + 28);
    const path = zip.toString("utf8", at + 46, at + 46 + nameLength);
    if (isNamed(path, name)) {
      const header = zip.readUInt32LE(at + 42);
      const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
      const content = zip.subarray(start, start + zip.readUInt32LE(at + 20));
      return zip.readUInt16LE(at + 10) === STORED ? content : inflateRawSync(content);
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return undefined;
};

const isNamed = (path: string, name: string): boolean => path === name || path.endsWith(`/${name}`);

const text = (bytes: Buffer, at: number, length: number): string => {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? length : end);
};
