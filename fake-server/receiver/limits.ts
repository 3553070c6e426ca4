/** What a sender can cost the receiver at most. */
export interface ReceiverLimits {
  readonly connections: number;
  readonly headerBytes: number;
  readonly bodyBytes: number;
  /** Bodies that are being received, all connections together. */
  readonly bodiesBytes: number;
  /** From the first byte to the end of the header, and from the connection to the end of a handshake. */
  readonly headersMs: number;
  /** From the connection to its first byte: senders keep connections that they have no use for yet. */
  readonly unusedMs: number;
  /** From the first byte to the end of the body. */
  readonly requestMs: number;
  /**
   * A connection between two requests. Longer than any delay of the schedule: a connection that closes just when a
   * retry is sent on it would be a failure that no plan asked for.
   */
  readonly keepAliveMs: number;
  /** How long a sender may take to close a connection that the receiver has closed, before that is cut off. */
  readonly leavingMs: number;
}

export const receiverLimits: ReceiverLimits = {
  connections: 2_000,
  headerBytes: 65_536,
  bodyBytes: 8 * 1_048_576,
  bodiesBytes: 64 * 1_048_576,
  headersMs: 10_000,
  unusedMs: 120_000,
  requestMs: 30_000,
  keepAliveMs: 20 * 60_000,
  leavingMs: 1_000,
};
