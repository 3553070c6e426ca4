import type { IncomingMessage, ServerResponse } from "node:http";

/** A body that is not a JSON object, or too long. */
export class Unreadable extends Error {
  readonly status: number;
  constructor(status: number) {
    super("the body cannot be read");
    this.status = status;
  }
}

/** The limit of common body parsers. */
const LONGEST_BODY = 100_000;

/** The body as a JSON object. One that is too long is still read to its end, so that the answer arrives. */
export const readJson = async (request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= LONGEST_BODY) chunks.push(chunk);
  }
  if (length > LONGEST_BODY) throw new Unreadable(413);
  const body = parse(Buffer.concat(chunks).toString("utf8"));
  if (typeof body !== "object" || body === null) throw new Unreadable(400);
  return body as Readonly<Record<string, unknown>>;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unreadable(400);
  }
};

export const answerJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { ...headers, "content-type": "application/json" }).end(JSON.stringify(body));
};
