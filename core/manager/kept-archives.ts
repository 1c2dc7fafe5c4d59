import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { label } from '../../api/v1alpha1/labels.ts';
import { isOwn } from '../bundle-deployment/index.ts';
import { type DiskStore, KeptArchives, type OnLeftover } from '../store/index.ts';
import type { Kinds } from './kinds.ts';
import type { ManagerSettings } from './settings.ts';

interface Parts {
  readonly store: DiskStore;
  readonly kinds: Pick<Kinds, 'deployments'>;
  readonly onLeftover: OnLeftover;
}

/** Keeps the archives of Bundles that are gone while a deployment has their content installed. */
export function keptArchives(
  { content: { directory }, limits }: Pick<ManagerSettings, 'content' | 'limits'>,
  { store, kinds, onLeftover }: Parts,
): KeptArchives {
  const isInstalled = (bundle: Bundle): boolean => isActive(bundle, kinds);
  return new KeptArchives({ store, directory, limits, isInstalled, onLeftover });
}

/** Another Bundle of the same name may have been applied since. */
function isActive(bundle: Bundle, { deployments }: Pick<Kinds, 'deployments'>): boolean {
  const { name, uid, labels = {} } = bundle.metadata;
  const deployment = deployments.get({ name: labels[label.ownerName] ?? '' });
  if (deployment === undefined || !isOwn(bundle, deployment)) return false;
  if (deployment.metadata.deletionTimestamp !== undefined) return false;
  const { activeBundle, applied } = deployment.status ?? {};
  return activeBundle === name && (applied === undefined || applied.uid === uid);
}
