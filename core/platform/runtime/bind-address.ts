export interface BindAddress {
  /** All addresses where absent. */
  readonly host?: string;
  /** 0 picks a free one. */
  readonly port: number;
}

/**
 * `:8081`, `127.0.0.1:0` or `[::1]:8081`; `0` means off and gives undefined.
 * @throws Error for anything else.
 */
export function parseBindAddress(text: string): BindAddress | undefined {
  if (text === '0') return undefined;
  const [, bracketed, plain, digits] = pattern.exec(text) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535)) {
    throw new Error(`"${text}" is not an address to listen on: use host:port, :port, or 0 for off`);
  }
  const host = bracketed || plain;
  return host ? { host, port } : { port };
}

const pattern = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/\s]*)):([0-9]{1,5})$/;
