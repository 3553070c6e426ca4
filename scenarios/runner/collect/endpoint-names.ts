/**
 * There are few endpoints; any beyond this number, or with a name that a log line cannot carry, are counted together.
 */
const MOST_ENDPOINTS = 20;
const OTHERS = "other";

export const createEndpointNames = (): ((endpoint: string) => string) => {
  const names = new Set<string>();
  return (endpoint) => {
    if (names.has(endpoint)) return endpoint;
    if (names.size >= MOST_ENDPOINTS || !/^[\w.-]+$/.test(endpoint)) return OTHERS;
    names.add(endpoint);
    return endpoint;
  };
};
