import type { ProvisionerContext } from '../../contracts/provisioner.ts';

/**
 * Runs all requests of one call within the time limit, so that the message can say whose fault it
 * is; the reconciler has the same limit for classes that do not keep it.
 */
export async function withinLimit<T>(
  { name }: { readonly name: string },
  { signal, limits }: Pick<ProvisionerContext, 'signal' | 'limits'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(limits.timeout);
  try {
    return await work(AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error;
    throw new Error(
      `${name} took longer than the limit of ${limits.timeout / 1000} s (--content-timeout)`,
      { cause: error },
    );
  }
}
