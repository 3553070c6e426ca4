import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { listenOn } from "./serving.ts";

const host = "127.0.0.1";

/** A port that another program has, and a server that wants it. */
const occupied = async () => {
  const other = net.createServer().listen(0, host);
  await once(other, "listening");
  return { other, server: net.createServer(), port: (other.address() as AddressInfo).port };
};

it("a port that the server had before is listened on as soon as another program lets it go", async () => {
  const { other, server, port } = await occupied();
  const listening = listenOn(server, { host, port }, true);
  await once(server, "error");
  other.close();
  await listening;
  expect((server.address() as AddressInfo).port).toBe(port);
  server.close();
});

it("a port that the server never had is refused at once", async () => {
  const { other, server, port } = await occupied();
  await expect(listenOn(server, { host, port }, false)).rejects.toMatchObject({ code: "EADDRINUSE" });
  other.close();
});
