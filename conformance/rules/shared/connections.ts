import type { Target } from "../../world/target.ts";
import type { World } from "../../world/world.ts";

export type Connections = readonly (Target & { close(): Promise<void> })[];

/** Opens dedicated connections and warms each with a cheap request, so that none starts late. */
export const withConnections = async <T>(
  world: World,
  count: number,
  action: (connections: Connections) => Promise<T>,
): Promise<T> => {
  const connections = Array.from({ length: count }, () => world.target.dedicated());
  try {
    await Promise.all(connections.map((connection) => connection.list({ query: { limit: 1 } })));
    return await action(connections);
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
};
