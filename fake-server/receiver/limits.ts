/** Bounds of what a sender can cost the receiver. */
export const receiverLimits = {
  connections: 2_000,
  headerBytes: 65_536,
  bodyBytes: 8 * 1_048_576,
  /** Bodies being received, over all connections. */
  bodiesBytes: 64 * 1_048_576,
  /**
   * From the first byte to the end of the header, and from the connection to the end of a handshake, which takes a
   * starved machine over ten seconds: a sender whose push the receiver gives up counts an attempt that nobody sees.
   */
  headersMs: 30_000,
  /** From the connection to its first byte: senders keep connections for later use. */
  unusedMs: 120_000,
  /** From the first byte to the end of the body. */
  requestMs: 30_000,
  /**
   * A connection between two requests. Longer than any delay of the schedule: closing a connection just as a retry is
   * sent on it would be an unplanned failure.
   */
  keepAliveMs: 20 * 60_000,
  /** How long a sender may take to close a connection that the receiver has closed, before it is destroyed. */
  leavingMs: 1_000,
};

export type ReceiverLimits = Readonly<typeof receiverLimits>;
