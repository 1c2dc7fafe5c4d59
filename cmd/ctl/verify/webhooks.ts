import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { parseCertificates } from '../../../core/platform/certificates/index.ts';
import { liveObject } from '../../../core/platform/kube/index.ts';
import { installManifests } from '../../../deploy/install-manifests.ts';
import {
  type Check,
  failed,
  ok,
  skipped,
  type VerifyContext,
  webhookConfigurations,
} from './check.ts';

/** What does not work without an optional configuration. */
const losses: ReadonlyMap<string, string> = new Map([
  ['crd-deletion-webhook', 'CRDs in use may be deleted'],
  [
    'rukpak-mutating-webhook-configuration',
    'no history tells which user changed a BundleDeployment',
  ],
]);
const install = 'run "rukpak install", or apply an overlay of deploy/';

/** Checks that the webhook configurations exist, are complete, and have a CA. */
export async function webhookChecks({
  cluster,
  signal,
  systemNamespace,
}: VerifyContext): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const expected of expectedConfigurations(systemNamespace)) {
    checks.push(configurationCheck(expected, await liveConfiguration(expected, cluster, signal)));
  }
  return checks;
}

export function expectedConfigurations(systemNamespace: string): readonly KubernetesObject[] {
  return installManifests({ systemNamespace, guardCrdDeletion: true }).filter(({ kind }) =>
    webhookConfigurations.has(kind),
  );
}

/** The installed configuration with the name of an expected one. */
export async function liveConfiguration(
  { kind, metadata }: KubernetesObject,
  { client }: VerifyContext['cluster'],
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  const resource = webhookConfigurations.get(kind);
  if (resource === undefined) return undefined;
  return await liveObject(client, { resource, key: { name: metadata.name ?? '' } }, signal);
}

/** Pure. */
export function configurationCheck(
  expected: KubernetesObject,
  live: KubernetesObject | undefined,
): Check {
  const { name = '' } = expected.metadata;
  const subject = `${expected.kind} ${name}`;
  if (live === undefined) {
    const loss = losses.get(name);
    return loss !== undefined
      ? skipped(subject, `is not installed: ${loss} (it is optional)`)
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

/** PEM of the CAs of a webhook's caller; empty without a certificate. */
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
