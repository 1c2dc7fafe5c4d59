import { listOf, stringAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  formatKey,
  type KubeClient,
  liveObject,
  type ObjectKey,
} from '../../core/platform/kube/index.ts';

const resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  namespaced: false,
} as const;

const serviceResource = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
} as const;

type Reader = Pick<KubeClient, 'get'>;

/**
 * Why the API server would no longer reach the webhooks of the cluster, wherever they run, and then
 * refuse what they check; undefined when it would.
 */
export async function lostWebhook(
  client: Reader,
  manifests: readonly KubernetesObject[],
): Promise<string | undefined> {
  for (const manifest of manifests) {
    const { kind, metadata } = manifest;
    if (!kind.endsWith('WebhookConfiguration')) continue;
    const place = { ...resource, kind, plural: `${kind.toLowerCase()}s` };
    const { name = '' } = metadata;
    const live = await liveObject(client, { resource: place, key: { name } });
    for (const webhook of listOf(manifest['webhooks'])) {
      const now = listOf(live?.['webhooks']).find((each) => nameOf(each) === nameOf(webhook));
      const change = lostOutside(webhook, now) ?? (await lostInside(webhook, now, client));
      if (change !== undefined) return `${kind} "${name}" calls ${change}`;
    }
  }
  return undefined;
}

function nameOf(webhook: unknown): string | undefined {
  return stringAt(webhook, 'name');
}

/** Of webhooks that run outside the cluster, with an installation that names no URL. */
function lostOutside(webhook: unknown, now: unknown): string | undefined {
  const url = stringAt(now, 'clientConfig', 'url');
  const path = stringAt(webhook, 'clientConfig', 'service', 'path');
  if (url === undefined || path === undefined) return undefined;
  const base = baseOf(url, path);
  return `${base}, and this installation would call Service "${formatKey(serviceOf(webhook))}" instead: pass --webhook-url=${base}, or delete the configuration first`;
}

/** Of webhooks in the cluster, with an installation that names a URL: another cluster may be meant. */
async function lostInside(
  webhook: unknown,
  now: unknown,
  client: Reader,
): Promise<string | undefined> {
  const url = stringAt(webhook, 'clientConfig', 'url');
  const path = stringAt(now, 'clientConfig', 'service', 'path');
  if (url === undefined || path === undefined) return undefined;
  const target = { resource: serviceResource, key: serviceOf(now) };
  if ((await liveObject(client, target)) === undefined) return undefined;
  return `Service "${formatKey(serviceOf(now))}", which exists, and this installation would call ${baseOf(url, path)} instead: name the cluster that you mean with --context or --kubeconfig, or first run "rukpak uninstall", which keeps everything that is installed`;
}

/** The URL without the path of the webhook. */
function baseOf(url: string, path: string): string {
  return url.endsWith(path) ? url.slice(0, -path.length) : new URL(url).origin;
}

function serviceOf(webhook: unknown): ObjectKey {
  const [namespace, name = ''] = ['namespace', 'name'].map((field) =>
    stringAt(webhook, 'clientConfig', 'service', field),
  );
  return { namespace, name };
}
