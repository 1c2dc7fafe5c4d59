import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';

/** What core and tools note on a deployment, and requests that hold once: no part of what a user wants. */
const notes: ReadonlySet<string> = new Set([
  annotation.approve,
  annotation.confirmPrune,
  annotation.seed,
  annotation.acceptNewSeed,
  annotation.installNamespace,
  annotation.hooksApplied,
  annotation.changedBy,
  annotation.reconcileRequestedAt,
  'kubectl.kubernetes.io/last-applied-configuration',
]);

/** A deployment as a manifest that makes it again: without status, and what others have noted on it. */
export function manifestOf({
  apiVersion,
  kind,
  metadata,
  spec,
}: BundleDeployment): KubernetesObject {
  const { name, labels, annotations } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...entriesOf('labels', labels),
      ...entriesOf('annotations', annotations),
    },
    spec,
  };
}

function entriesOf(
  field: 'labels' | 'annotations',
  map: Readonly<Record<string, string>> = {},
): object {
  const kept = Object.entries(map).filter(([key]) => !isNote(key));
  return kept.length === 0 ? {} : { [field]: Object.fromEntries(kept) };
}

function isNote(key: string): boolean {
  return notes.has(key) || key.startsWith('applyset.kubernetes.io/');
}
