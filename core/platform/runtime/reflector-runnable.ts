import type { Reflector } from '../kube/index.ts';
import type { Runnable } from './manager.ts';

/** A reflector as a part of the process; what comes after it starts when its sink is filled. */
export function reflectorRunnable(
  name: string,
  reflector: Pick<Reflector, 'run' | 'whenSynced'>,
): Runnable {
  return {
    name,
    run: (signal) => reflector.run(signal),
    ready: (signal) => reflector.whenSynced(signal),
  };
}
