import { withoutQuery, type Request, type TransportError } from "../exchange.ts";

/** A request of a case whose outcome is unknown: no complete answer came, or perhaps only a gateway's. */
export interface Loss {
  readonly exchange: number;
  readonly reason: TransportError["reason"] | "gateway";
  readonly isNeverAnswered?: boolean;
}

/**
 * The requests of one case whose outcome is unknown. One case cannot tell whether the service hung up or the network
 * lost them, nor whose 502 it was. Several can, because every request has a name that is the same in each repetition of
 * the case.
 */
export type Losses = ReturnType<typeof newLosses>;

export const newLosses = () => {
  const clientIndexes = new Map<string, number>();
  const begun: string[] = [];
  const lost = new Map<string, Loss>();
  const doubted = new Map<string, Loss>();
  const everLost = new Set<string>();
  const note = (name: string, loss: Loss): void => {
    lost.set(name, loss);
    everLost.add(name);
  };
  return {
    /** Names a request that is about to start by method, path and its index among those: "POST /open-api/oauth/access-token 2". */
    begin: (request: Pick<Request, "method" | "path">): string => {
      const kind = withoutQuery(request);
      const clientIndex = (clientIndexes.get(kind) ?? 0) + 1;
      clientIndexes.set(kind, clientIndex);
      const name = `${kind} ${clientIndex}`;
      begun.push(name);
      return name;
    },
    note,
    /**
     * A loss unless the case passes: the request was refused, with whatever status, after it had been resent, and may
     * have taken effect before.
     */
    doubt: (name: string, loss: Loss): void => void doubted.set(name, loss),
    /** The case did not pass. */
    noteDoubts: (): void => {
      for (const [name, loss] of doubted) note(name, loss);
      doubted.clear();
    },
    /** Declares that nothing judged from now on depends on the outcome of this exchange. */
    ignoreLoss: (exchange: number): void => {
      for (const some of [lost, doubted])
        for (const [name, loss] of some) if (loss.exchange === exchange) some.delete(name);
    },
    /** The losses that a judgement may depend on, by name. */
    open: (): ReadonlyMap<string, Loss> => lost,
    /** Names of the requests that were started and not lost. */
    answered: (): readonly string[] => begun.filter((name) => !everLost.has(name)),
  };
};
