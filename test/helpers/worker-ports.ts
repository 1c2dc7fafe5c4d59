import { once } from 'node:events';
import { createServer } from 'node:net';
import { freePorts, LOOPBACK, type PortRange } from '../../deploy/local/cluster/ports.ts';

/** Of one process. Control planes and programs that choose by themselves are above. */
const share = 300;
const first = 10_000;
const shares = 32;
/** Web clients refuse it (https://fetch.spec.whatwg.org/#port-blocking). */
const refused = [10_080];
/**
 * Servers that start side by side must not be given the same port. The last ones: a process that
 * runs many files takes more than its share in the end.
 */
const given: number[] = [];
const remembered = share / 2;
let claimed: Promise<PortRange> | undefined;

/**
 * Free ports that no other test takes between our look and the start of a server, or while a server
 * starts again; tests of another run on the same machine neither.
 */
export async function workerPorts(count: number): Promise<readonly number[]> {
  claimed ??= claimShare();
  const range = await claimed;
  for (;;) {
    const ports = await freePorts(count, [...refused, ...given], range);
    // Another call may have been given one while this one looked.
    if (ports.some((port) => given.includes(port))) continue;
    given.push(...ports);
    given.splice(0, given.length - remembered);
    return ports;
  }
}

/** A share belongs to the process that listens on its first port, until it ends. */
async function claimShare(): Promise<PortRange> {
  const preferred = Number(process.env['VITEST_POOL_ID'] ?? '1') - 1;
  for (let offset = 0; offset < shares; offset += 1) {
    const lowest = first + ((preferred + offset) % shares) * share;
    const server = createServer().unref();
    try {
      server.listen({ host: LOOPBACK, port: lowest, exclusive: true });
      await once(server, 'listening');
      return { lowest: lowest + 1, highest: lowest + share };
    } catch {
      server.close();
    }
  }
  throw new Error(`all ${shares} shares of the ports for tests are taken`);
}
