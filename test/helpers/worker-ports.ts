import { freePorts } from '../../deploy/local/cluster/ports.ts';

/** Of one of vitest's workers. Control planes and programs that choose by themselves are above. */
const share = 600;
const first = 10_000;
const shares = 10;
/** Web clients refuse it (https://fetch.spec.whatwg.org/#port-blocking). */
const refused = [10_080];
/** Servers that start side by side must not be given the same port. */
const given: number[] = [];

/** Free ports that no other test or call takes between our look and the start of a server. */
export async function workerPorts(count: number): Promise<readonly number[]> {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? '1') - 1;
  const lowest = first + (worker % shares) * share;
  const range = { lowest, highest: lowest + share };
  for (;;) {
    const ports = await freePorts(count, [...refused, ...given], range);
    // Another call may have been given one while this one looked.
    if (ports.some((port) => given.includes(port))) continue;
    given.push(...ports);
    return ports;
  }
}
