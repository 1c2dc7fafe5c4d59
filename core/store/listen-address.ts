export interface ListenAddress {
  /** Absent for all interfaces. */
  readonly host?: string;
  /** 0 for any free port. */
  readonly port: number;
}

/** Reads `:8443`, `127.0.0.1:8443` or `[::1]:8443`; throws with the text where it is none. */
export function parseListenAddress(address: string): ListenAddress {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]*)):([0-9]{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new Error(`"${address}" is no address to listen on: use ":8443" or "host:8443"`);
  }
  const host = match[1] ?? match[2] ?? '';
  return host === '' ? { port } : { host, port };
}
