import type { Socket } from "node:net";
import { serveTcp } from "../../conformance/testing/servers.ts";
import type { HostileAnswer } from "./hostile-answers.ts";

const DRIP_MS = 20;
const sound = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 14\r\n\r\n{"sound":true}';

/** A target that answers requests for `/hostile/N` as the Nth entry says, and all others correctly. */
export const startHostilePeer = async () => {
  const answers = new Map<number, HostileAnswer>();
  const server = await serveTcp((socket) => {
    let seen = "";
    socket.on("data", (chunk) => {
      seen += chunk.toString("latin1");
      const end = seen.indexOf("\r\n\r\n");
      if (end < 0) return;
      const [, number] = /^\S+ \/hostile\/(\d+)/.exec(seen) ?? [];
      seen = "";
      const answer = number === undefined ? undefined : answers.get(Number(number));
      if (answer === undefined) socket.write(sound);
      else play(answer, socket);
    });
  });
  return { ...server, answers };
};

export const play = ({ bytes, afterwards }: HostileAnswer, socket: Socket): void => {
  if (afterwards === "drip") return dripInto(socket, bytes);
  if (afterwards === "endless") return flood(socket, bytes);
  socket.write(bytes, () => {
    if (afterwards === "end") socket.end();
    else if (afterwards === "reset") socket.resetAndDestroy();
  });
};

/** Writes for ever, until the other side has had enough. */
const flood = (socket: Socket, bytes: Buffer): void => {
  const block = Buffer.concat(Array.from({ length: 32 }, () => bytes.subarray(-1_031)));
  socket.write(bytes);
  const more = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on("drain", more);
  more();
};

const dripInto = (socket: Socket, bytes: Buffer): void => {
  let at = 0;
  const timer = setInterval(() => {
    if (socket.destroyed || at >= bytes.length) clearInterval(timer);
    else socket.write(bytes.subarray(at, (at += 1)));
  }, DRIP_MS);
};
