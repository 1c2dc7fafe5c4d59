import { isAlreadyExists, isNotFound } from '../../../../core/platform/kube/index.ts';
import { eventually } from '../../../helpers/eventually.ts';

/** Retries a request until it succeeds, however often the API server is unavailable. */
export async function insisting(act: () => Promise<unknown>): Promise<void> {
  let tries = 0;
  await eventually(async () => {
    tries += 1;
    try {
      await act();
    } catch (error) {
      // The previous attempt may have succeeded, with only its answer lost.
      if (tries === 1 || !(isAlreadyExists(error) || isNotFound(error))) throw error;
    }
  });
}
