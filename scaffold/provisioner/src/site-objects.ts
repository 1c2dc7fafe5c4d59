import { createHash } from 'node:crypto';
import type { KubernetesObject } from 'rukpak-ts/sdk';
import type { Settings } from './settings.ts';

/** The pages by their file names. */
type Pages = ReadonlyMap<string, Uint8Array>;

const image = 'nginxinc/nginx-unprivileged:1.29-alpine';
const port = 8080;

/** A ConfigMap with the pages, a Deployment that serves them, and a Service in front of it. */
export function siteObjects(
  name: string,
  pages: Pages,
  { namespace, replicas }: Settings,
): readonly KubernetesObject[] {
  const labels = { 'app.kubernetes.io/name': 'example-class', 'app.kubernetes.io/instance': name };
  const metadata = { name, namespace, labels };
  // Pods see the new pages by themselves, but later: other pages are other pods.
  const annotations = { 'example-class/pages': hashOf(pages) };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, binaryData: encoded(pages) },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels, annotations }, spec: podSpec(name) },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: port }] },
    },
  ];
}

function podSpec(name: string): object {
  return {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'web',
        image,
        ports: [{ name: 'http', containerPort: port }],
        readinessProbe: { httpGet: { path: '/', port } },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        volumeMounts: [{ name: 'pages', mountPath: '/usr/share/nginx/html', readOnly: true }],
      },
    ],
    volumes: [{ name: 'pages', configMap: { name } }],
  };
}

function encoded(pages: Pages): Readonly<Record<string, string>> {
  const entries = [...pages].map(([path, page]) => [path, Buffer.from(page).toString('base64')]);
  return Object.fromEntries(entries);
}

function hashOf(pages: Pages): string {
  const hash = createHash('sha256');
  for (const [path, page] of pages) hash.update(`${path}\0${page.length}\0`).update(page);
  return hash.digest('hex').slice(0, 16);
}
