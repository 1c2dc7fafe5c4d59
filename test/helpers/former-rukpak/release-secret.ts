import { gzipSync } from 'node:zlib';
import type { KubernetesObject, OwnerReference } from '../../../api/meta.ts';
import { toYaml } from '../../../core/manifests/index.ts';

export interface FormerRelease {
  readonly name: string;
  readonly namespace: string;
  readonly revision: number;
  readonly status: string;
  readonly objects: readonly KubernetesObject[];
  readonly owner: OwnerReference;
}

/** The Secret in which RukPak v0.16 kept a revision. */
export function releaseSecret(release: FormerRelease): KubernetesObject {
  const { name, namespace, revision, status, owner } = release;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'helm.sh/release.v1',
    metadata: {
      name: `sh.helm.release.v1.${name}.v${revision}`,
      namespace,
      labels: { name, owner: 'helm', status, version: `${revision}`, modifiedAt: '1700000000' },
      ownerReferences: [owner],
    },
    data: { release: btoa(packedRelease(release)) },
  };
}

function packedRelease({ name, namespace, revision, status, objects }: FormerRelease): string {
  const time = '2023-11-14T22:13:20Z';
  const release = {
    name,
    info: { first_deployed: time, last_deployed: time, deleted: '', status },
    chart: { metadata: {}, lock: null, templates: [], values: null, schema: null, files: null },
    manifest: toYaml(objects),
    version: revision,
    namespace,
  };
  return gzipSync(JSON.stringify(release)).toString('base64');
}
