import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { bundleCRD, bundleDeploymentCRD } from '../../../api/v1alpha1/crd.ts';
import { computeStatus, digestOf } from '../../../core/apply/index.ts';
import {
  definitionResource,
  liveObject,
  namespaceResource,
} from '../../../core/platform/kube/index.ts';
import { shortList } from '../../../core/short-list.ts';
import { fieldPaths, schemaOf } from '../../installation/newer-definition.ts';
import { type Check, crdNamespace, failed, ok, type VerifyContext, warning } from './check.ts';

const install = 'apply deploy/crds of this version, or run "rukpak install"';

/** Checks that the CRDs of the project exist, are established, and have this version. */
export async function definitionChecks({
  cluster,
  signal,
}: VerifyContext): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const expected of [bundleCRD(), bundleDeploymentCRD()]) {
    const { name = '' } = expected.metadata;
    const live = await liveObject(
      cluster.client,
      { resource: definitionResource, key: { name } },
      signal,
    );
    checks.push(definitionCheck(expected, live));
  }
  return checks;
}

/** Pure. */
export function definitionCheck(
  expected: KubernetesObject,
  live: KubernetesObject | undefined,
  cure = install,
): Check {
  const subject = `CRD ${expected.metadata.name}`;
  if (live === undefined) return failed(subject, 'is missing', cure);
  const { status, message } = computeStatus(live, Date.now());
  if (status !== 'Current') {
    return failed(
      subject,
      `is not established: ${message}`,
      `kubectl describe crd ${expected.metadata.name}`,
    );
  }
  const version = stringAt(listOf(fieldAt(expected['spec'], 'versions'))[0], 'name');
  const [ours, theirs] = [schemaOf(expected, version), schemaOf(live, version)];
  if (digestOf(ours) === digestOf(theirs)) return ok(subject, 'established, of this version');
  const [wanted, found] = [new Set(fieldPaths(ours)), new Set(fieldPaths(theirs))];
  const missing = [...wanted.difference(found)];
  const extra = [...found.difference(wanted)];
  if (missing.length > 0) {
    return warning(
      subject,
      `established, but older or of another project: it lacks ${shortList(missing, 5)}`,
      cure,
    );
  }
  return extra.length > 0
    ? warning(
        subject,
        `established, but newer than this program: it also has ${shortList(extra, 5)}`,
        'use the rukpakctl of that version',
      )
    : warning(
        subject,
        'established; its fields are those of this version, their texts or limits are not',
        cure,
      );
}

const enforce = 'pod-security.kubernetes.io/enforce';

/** Checks the namespaces of the system, and that they forbid privileged pods. */
export async function namespaceChecks({
  cluster,
  signal,
  systemNamespace,
}: VerifyContext): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const name of [systemNamespace, crdNamespace]) {
    const live = await liveObject(
      cluster.client,
      { resource: namespaceResource, key: { name } },
      signal,
    );
    const level = stringAt(live?.metadata.labels, enforce);
    checks.push(namespaceCheck(name, live !== undefined, level));
  }
  return checks;
}

function namespaceCheck(name: string, exists: boolean, level: string | undefined): Check {
  const subject = `Namespace ${name}`;
  if (!exists)
    return failed(subject, 'is missing', 'run "rukpak install", or apply an overlay of deploy/');
  if (level === 'baseline' || level === 'restricted')
    return ok(subject, `enforces pod security "${level}"`);
  return warning(
    subject,
    `does not enforce pod security: ${level === undefined ? 'it has no label' : 'its label is'} ${enforce}${level === undefined ? '' : `=${level}`}`,
    `kubectl label namespace ${name} ${enforce}=baseline --overwrite`,
  );
}
