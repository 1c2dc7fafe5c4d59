import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { Revision } from '../../../api/v1alpha1/deployment-progress.ts';
import { describeSource } from '../status/bundle-report.ts';
import { templateBundle } from '../template-bundle.ts';

/** The history as a table, headings first; empty where there is none. */
export function revisionRows(deployment: BundleDeployment): readonly (readonly string[])[] {
  const { history = [] } = deployment.status ?? {};
  if (history.length === 0) return [];
  return [
    ['REVISION', 'BUNDLE', 'SOURCE', 'APPLIED', 'BY', 'HEALTHY', 'NOW'],
    ...history.map((entry) => [
      String(entry.revision),
      entry.bundle,
      describeSource(entry.template.spec.source),
      entry.appliedAt,
      entry.appliedBy ?? '-',
      entry.healthyAt ?? '-',
      stateOf(entry, deployment),
    ]),
  ];
}

function stateOf({ bundle, rolledBackAt }: Revision, deployment: BundleDeployment): string {
  if (bundle === deployment.status?.activeBundle) return 'active';
  if (rolledBackAt !== undefined) return `given up ${rolledBackAt}`;
  return bundle === templateBundle(deployment) ? 'next' : '-';
}
