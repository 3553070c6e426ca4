/** Whether requests to a host, by name or address, never leave this machine. An address may be in brackets. */
export const isLoopback = (host: string): boolean =>
  /^(?:localhost|\[::1\]|::1|127(?:\.\d{1,3}){3})$/.test(host);
