import { matchesWildcard } from '../platform/net/index.ts';

/**
 * Whether a registry's `host[:port]` fits a pattern of the kubelet's kind: as many parts between
 * dots, `*` and `?` within a part, and the very same port.
 */
export function matchesHost(pattern: string, host: string): boolean {
  const wanted = splitPort(pattern);
  const actual = splitPort(host);
  return (
    wanted.port === actual.port &&
    wanted.parts.length === actual.parts.length &&
    wanted.parts.every((part, index) => matchesWildcard(part, actual.parts[index] ?? ''))
  );
}

function splitPort(host: string): { readonly parts: readonly string[]; readonly port: string } {
  const port = /:[0-9]+$/.exec(host)?.[0] ?? '';
  return { parts: host.slice(0, host.length - port.length).split('.'), port };
}
