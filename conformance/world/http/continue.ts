import type net from "node:net";

/** The head of a `100 Continue`, and any beginning of one. */
const WHOLE = /^HTTP\/1\.[01] 100(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/;
const LINE = "HTTP/1.1 100";
/** Longer heads are left to the client, which refuses them. */
const MOST_BYTES = 16 * 1024;

/**
 * Takes `100 Continue` out of what a client reads from this connection. A server may send it unasked, and a client must
 * be able to read it (RFC 9110 section 15.2), but undici closes the connection; it reads past other interim answers. An
 * answer begins with the first bytes after a request was written, since requests are not pipelined.
 */
export const withoutContinue = <S extends net.Socket>(socket: S): S => {
  const write = socket.write.bind(socket);
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let isAtStart = false;
  let held: Buffer = Buffer.alloc(0);
  socket.write = ((...parameters: Parameters<typeof write>) => {
    isAtStart = true;
    return write(...parameters);
  }) as typeof write;
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size);
      if (chunk === null || !isAtStart) return chunk;
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      held = held.subarray(continueBytes(held));
      if (held.length === 0 || isBeginning(held)) continue;
      const rest = held;
      isAtStart = false;
      held = Buffer.alloc(0);
      return rest;
    }
  };
  return socket;
};

/** The length of all `100 Continue` at the beginning of these bytes. */
const continueBytes = (bytes: Buffer): number => {
  if (!startsAs100(bytes)) return 0;
  const [head] = WHOLE.exec(bytes.toString("latin1", 0, MOST_BYTES)) ?? [];
  return head === undefined ? 0 : head.length + continueBytes(bytes.subarray(head.length));
};

/** Whether these bytes may be the beginning of one that is not complete yet. */
const isBeginning = (bytes: Buffer): boolean => bytes.length < MOST_BYTES && startsAs100(bytes);

/** Whether the bytes so far agree with the first line of a `100 Continue`. */
const startsAs100 = (bytes: Buffer): boolean => {
  const start = bytes.toString("latin1", 0, LINE.length).replace("HTTP/1.0", "HTTP/1.1");
  return LINE.startsWith(start);
};
