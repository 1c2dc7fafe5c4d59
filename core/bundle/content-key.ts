import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { ContentKey } from '../contracts/store.ts';

/** Where a Bundle's content is stored. */
export function storedContentKey(bundle: Bundle): ContentKey {
  return { name: bundle.metadata.name ?? '', uid: bundle.metadata.uid ?? '' };
}
