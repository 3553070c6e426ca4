import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import type { Answer } from "../exchange.ts";

type Decoder = (body: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

/** Content codings by their names and aliases (RFC 9110 section 8.4.1, RFC 7932). */
const decoders: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** The codings of a body, in the order in which they were applied. */
export const codingsOf = (headers: Answer["headers"]): readonly string[] =>
  headers
    .filter(([name]) => name === "content-encoding")
    .flatMap(([, value]) => value.toLowerCase().split(","))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");

/**
 * A body without its codings. No request asks for one, so a service may choose (RFC 9110 section 12.5.3). A body whose
 * coding is unknown, or that is not what its header says, stays as it is. Throws RangeError if it becomes longer than
 * `mostBytes`.
 */
export const decoded = async (
  body: Buffer,
  codings: readonly string[],
  mostBytes: number,
): Promise<Buffer> => {
  let plain = body;
  for (const coding of codings.toReversed()) {
    const decode = decoders[coding];
    if (decode === undefined) return body;
    try {
      plain = await decode(plain, { maxOutputLength: mostBytes });
    } catch (error) {
      if (error instanceof RangeError) throw new RangeError(`the answer is larger than ${mostBytes} bytes`);
      return body;
    }
  }
  return plain;
};
