import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether what is said to an address never leaves this machine; in a cluster, this Pod. */
export function isThisMachine({ hostname }: URL): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const family = isIP(name);
  if (family === 0) return name === 'localhost';
  return loopback.check(name, family === 4 ? 'ipv4' : 'ipv6');
}
