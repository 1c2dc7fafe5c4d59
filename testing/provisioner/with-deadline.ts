import type { Provisioner } from '../../core/sdk.ts';
import { inTime } from '../in-time.ts';

/** The class, where each call of a handler ends in time: with an OverdueError where not by itself. */
export function withDeadline(provisioner: Provisioner, timeout?: number): Provisioner {
  const { bundle, configure, inputs, deployment } = provisioner;
  const bounded: Partial<Provisioner> = {
    ...(bundle && { bundle: (...given) => inTime('bundle', timeout, () => bundle(...given)) }),
    ...(configure && {
      configure: (...given) => inTime('configure', timeout, () => configure(...given)),
    }),
    ...(inputs && { inputs: (...given) => inTime('inputs', timeout, () => inputs(...given)) }),
    ...(deployment && {
      deployment: (...given) => inTime('deployment', timeout, () => deployment(...given)),
    }),
  };
  const handlers = Object.entries(bounded).map(([name, value]) => [name, { value }] as const);
  // No copy: what a class behind a URL uses is known once it has been called.
  return Object.create(provisioner, Object.fromEntries(handlers)) as Provisioner;
}
