import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldAt, listOf, stringAt } from '../../../core/apply/json-fields.ts';
import { liveObject } from '../../../core/kube/live-object.ts';
import { installManifests } from '../../../deploy/install-manifests.ts';
import { parseCertificates } from '../../../webhooks/certs/pem.ts';
import { type Check, failed, ok, skipped, type VerifyContext } from './check.ts';
import { webhookConfigurationResource } from './resources.ts';

const optional = 'crd-deletion-webhook';
const install = 'run "rukpak install", or apply an overlay of deploy/';

/** The webhook configurations: there, complete, and trusting somebody. */
export async function webhookChecks({
  cluster,
  signal,
  systemNamespace,
}: VerifyContext): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const expected of expectedConfigurations(systemNamespace)) {
    const { name = '' } = expected.metadata;
    const live = await liveObject(
      cluster.client,
      { resource: webhookConfigurationResource, key: { name } },
      signal,
    );
    checks.push(configurationCheck(expected, live));
  }
  return checks;
}

export function expectedConfigurations(systemNamespace: string): readonly KubernetesObject[] {
  return installManifests({ systemNamespace, guardCrdDeletion: true }).filter(
    ({ kind }) => kind === webhookConfigurationResource.kind,
  );
}

/** Pure. */
export function configurationCheck(
  expected: KubernetesObject,
  live: KubernetesObject | undefined,
): Check {
  const { name = '' } = expected.metadata;
  const subject = `${expected.kind} ${name}`;
  if (live === undefined) {
    return name === optional
      ? skipped(subject, 'is not installed: CRDs in use may be deleted (it is optional)')
      : failed(subject, 'is missing: nothing is checked at admission', install);
  }
  const webhooks = listOf(live['webhooks']);
  const names = webhooks.map((webhook) => stringAt(webhook, 'name') ?? '');
  const missing = listOf(expected['webhooks'])
    .map((webhook) => stringAt(webhook, 'name') ?? '')
    .filter((webhook) => !names.includes(webhook));
  if (missing.length > 0) return failed(subject, `lacks webhook ${missing.join(', ')}`, install);
  const untrusting = webhooks.filter((webhook) => bundleOf(webhook) === '');
  if (untrusting.length > 0) {
    return failed(
      subject,
      `has no usable caBundle: the API server cannot call ${names.join(', ')}`,
      'the webhooks process writes it when it starts: see its log; with cert-manager see its cainjector',
    );
  }
  return ok(subject, `${names.join(', ')} at ${targetOf(webhooks[0])}`);
}

/** PEM of what a webhook's caller trusts; empty where there is no certificate in it. */
export function bundleOf(webhook: unknown): string {
  const encoded = stringAt(webhook, 'clientConfig', 'caBundle') ?? '';
  const pem = Buffer.from(encoded, 'base64').toString('utf8');
  return parseCertificates(pem).length === 0 ? '' : pem;
}

function targetOf(webhook: unknown): string {
  const url = stringAt(webhook, 'clientConfig', 'url');
  if (url !== undefined) return new URL(url).origin;
  const service = fieldAt(webhook, 'clientConfig', 'service');
  return `Service ${stringAt(service, 'namespace')}/${stringAt(service, 'name')}`;
}
