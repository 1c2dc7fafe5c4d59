import { listOf, stringAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { type KubeClient, liveObject } from '../../core/platform/kube/index.ts';

const resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  namespaced: false,
} as const;

/**
 * Why the API server would no longer reach webhooks that run outside the cluster, and then refuse what
 * they check; undefined when it would.
 */
export async function lostWebhook(
  client: Pick<KubeClient, 'get'>,
  manifests: readonly KubernetesObject[],
): Promise<string | undefined> {
  for (const manifest of manifests) {
    const { kind, metadata } = manifest;
    if (!kind.endsWith('WebhookConfiguration')) continue;
    const place = { ...resource, kind, plural: `${kind.toLowerCase()}s` };
    const { name = '' } = metadata;
    const live = await liveObject(client, { resource: place, key: { name } });
    for (const webhook of listOf(manifest['webhooks'])) {
      const base = baseOf(webhook, live);
      if (base === undefined) continue;
      const [namespace, service] = ['namespace', 'name'].map((field) =>
        stringAt(webhook, 'clientConfig', 'service', field),
      );
      return `${kind} "${name}" calls ${base}, and this installation would call Service "${namespace}/${service}" instead: pass --webhook-url=${base}, or delete the configuration first`;
    }
  }
  return undefined;
}

/** The URL without the path at which the live webhook is called, if the other is called at a Service. */
function baseOf(webhook: unknown, live: KubernetesObject | undefined): string | undefined {
  const name = stringAt(webhook, 'name');
  const now = listOf(live?.['webhooks']).find((each) => stringAt(each, 'name') === name);
  const url = stringAt(now, 'clientConfig', 'url');
  const path = stringAt(webhook, 'clientConfig', 'service', 'path');
  if (url === undefined || path === undefined) return undefined;
  return url.endsWith(path) ? url.slice(0, -path.length) : new URL(url).origin;
}
