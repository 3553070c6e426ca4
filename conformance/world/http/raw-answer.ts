import type { Answer } from "../exchange.ts";
import { fieldValue } from "./field-value.ts";

/** An HTTP/1.1 answer as read from a connection. */
export interface ParsedAnswer {
  readonly status: number;
  readonly headers: Answer["headers"];
  readonly text: string;
  /** Whether the body is complete. */
  readonly whole: boolean;
}

/**
 * Parses an answer from the bytes so far (RFC 9112 section 6). Undefined until its headers are complete, or if the
 * bytes are not HTTP. Skips interim answers (1xx).
 */
export const parseRawAnswer = (bytes: Buffer, method: string, closed: boolean): ParsedAnswer | undefined => {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [start = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(start)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) return undefined;
  const rest = bytes.subarray(headEnd + 4);
  if (status >= 100 && status < 200) return parseRawAnswer(rest, method, closed);
  const headers = lines.flatMap((line) => {
    const colon = line.indexOf(":");
    return colon < 1
      ? []
      : [[line.slice(0, colon).toLowerCase(), fieldValue(line.slice(colon + 1))] as const];
  });
  const { body, whole } = readBody(rest, status, headers, method, closed);
  return { status, headers, text: body.toString("utf8"), whole };
};

const readBody = (
  rest: Buffer,
  status: number,
  headers: Answer["headers"],
  method: string,
  closed: boolean,
): { body: Buffer; whole: boolean } => {
  if (method === "HEAD" || status === 204 || status === 304) return { body: Buffer.alloc(0), whole: true };
  const header = (name: string): string | undefined => headers.find(([key]) => key === name)?.[1];
  if (header("transfer-encoding")?.toLowerCase().endsWith("chunked") === true) return readChunks(rest);
  const length = header("content-length");
  if (length === undefined || !/^\d+$/.test(length)) return { body: rest, whole: closed };
  return { body: rest.subarray(0, Number(length)), whole: rest.length >= Number(length) };
};

/** The available body of a chunked answer (RFC 9112 section 7.1). Does not wait for trailers. */
const readChunks = (rest: Buffer): { body: Buffer; whole: boolean } => {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf("\r\n", at);
    const size = Number.parseInt(rest.subarray(at, Math.max(at, lineEnd)).toString("latin1"), 16);
    if (lineEnd < 0 || Number.isNaN(size)) return { body: Buffer.concat(chunks), whole: false };
    if (size === 0) return { body: Buffer.concat(chunks), whole: true };
    const end = lineEnd + 2 + size;
    chunks.push(rest.subarray(lineEnd + 2, end));
    if (rest.length < end + 2) return { body: Buffer.concat(chunks), whole: false };
    at = end + 2;
  }
};
