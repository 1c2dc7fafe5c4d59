import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { Revision } from '../../../api/v1alpha1/deployment-progress.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { bundleName, templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import { TerminalError } from '../../../core/errors.ts';
import { hasCode, type KubeClient } from '../../../core/platform/kube/index.ts';
import { describeSource } from '../status/bundle-report.ts';
import { templateBundle } from '../status/deployment-state.ts';

/**
 * The revision to roll back to: that of the Bundle `to`, otherwise the one to which an automatic
 * rollback went back, otherwise the last healthy one before the template's.
 * @throws TerminalError that lists the revisions, when there is none.
 */
export function chooseRevision(deployment: BundleDeployment, to?: string): Revision {
  const { history = [], rollback } = deployment.status ?? {};
  const current = templateBundle(deployment);
  if (to === current) {
    throw new TerminalError(
      `the template of ${nameOf(deployment)} is that of Bundle "${to}" already`,
    );
  }
  const wanted = to ?? rollback?.to;
  const found = history.find(({ bundle, healthyAt }) =>
    wanted === undefined ? bundle !== current && healthyAt !== undefined : bundle === wanted,
  );
  if (found !== undefined) return withItsTemplate(deployment, found);
  const lack =
    wanted === undefined
      ? 'no earlier revision that was healthy'
      : `no revision of Bundle "${wanted}"`;
  throw new TerminalError(`${nameOf(deployment)} has ${lack}: ${listed(deployment, history)}`);
}

/** Another template would make another Bundle, with content that is resolved anew. */
function withItsTemplate(deployment: BundleDeployment, revision: Revision): Revision {
  const { name = '' } = deployment.metadata;
  const { bundle, template } = revision;
  if (bundleName(name, templateHash(template)) === bundle) return revision;
  throw new TerminalError(
    `the history of ${nameOf(deployment)} has not the template of Bundle "${bundle}": the metadata of the Bundle was changed before the history began. Set spec.template to what the Bundle was made from`,
  );
}

interface TemplateChange {
  readonly deployment: BundleDeployment;
  readonly template: Revision['template'];
  readonly signal: AbortSignal;
}

/**
 * Sets spec.template of the deployment as it was read.
 * @throws TerminalError when somebody has changed its spec since, or made it again
 */
export async function setTemplate(
  client: Pick<KubeClient, 'get' | 'patch'>,
  { deployment, template, signal }: TemplateChange,
): Promise<BundleDeployment> {
  const { name = '', uid, generation } = deployment.metadata;
  const target = { resource: bundleDeploymentResource, key: { name } };
  const patch = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/generation', value: generation },
    { op: 'replace', path: '/spec/template', value: template },
  ];
  try {
    return (await client.patch(target, patch, { type: 'json', signal })) as BundleDeployment;
  } catch (error) {
    // The API server does not say which operation failed.
    if (!hasCode(error, 422)) throw error;
    const { metadata: now } = await client.get(bundleDeploymentResource, { name }, signal);
    if (now.uid === uid && now.generation === generation) throw error;
    throw new TerminalError(
      `nothing is changed: another client changed ${nameOf(deployment)} meanwhile. See rukpakctl status ${name}, and run the command again`,
      { cause: error },
    );
  }
}

function listed(deployment: BundleDeployment, history: readonly Revision[]): string {
  if (history.length === 0) {
    return 'it keeps no revisions: set spec.revisionHistoryLimit or spec.rollback to keep those from now on';
  }
  const current = templateBundle(deployment);
  const names = history.map(({ bundle, healthyAt }) => {
    if (bundle === current) return `${bundle} (of the template)`;
    return healthyAt === undefined ? `${bundle} (never healthy)` : bundle;
  });
  return `its revisions are ${names.join(', ')}; --to takes one of them`;
}

function nameOf({ metadata }: BundleDeployment): string {
  return `BundleDeployment "${metadata.name}"`;
}

/** The history as a table, with headings; empty without a history. */
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
      revisionState(entry, deployment),
    ]),
  ];
}

function revisionState({ bundle, rolledBackAt }: Revision, deployment: BundleDeployment): string {
  if (bundle === deployment.status?.activeBundle) return 'active';
  if (rolledBackAt !== undefined) return `rolled back ${rolledBackAt}`;
  return bundle === templateBundle(deployment) ? 'next' : '-';
}
