import { freePorts } from '../../deploy/local/cluster/ports.ts';

/** Of one of vitest's workers. Control planes and programs that choose by themselves are above. */
const share = 600;
const first = 10_000;
const shares = 10;
/** Web clients refuse it (https://fetch.spec.whatwg.org/#port-blocking). */
const refused = [10_080];

/** Free ports that no test in another worker takes between our look and the start of a server. */
export async function workerPorts(count: number): Promise<readonly number[]> {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? '1') - 1;
  const lowest = first + (worker % shares) * share;
  return await freePorts(count, refused, { lowest, highest: lowest + share });
}
