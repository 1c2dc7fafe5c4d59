import { isAlreadyExists, isNotFound } from '../../../../core/platform/kube/index.ts';
import { eventually } from '../../../helpers/eventually.ts';

/** Does something to the cluster until it is done, however often the API server is away meanwhile. */
export async function insisting(act: () => Promise<unknown>): Promise<void> {
  let tries = 0;
  await eventually(async () => {
    tries += 1;
    try {
      await act();
    } catch (error) {
      // The time before may have done it, and only the answer was lost.
      if (tries === 1 || !(isAlreadyExists(error) || isNotFound(error))) throw error;
    }
  });
}
