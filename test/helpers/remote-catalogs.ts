import type { KubernetesObject } from '../../api/meta.ts';
import { ApiError, type Resource } from '../../core/controller.ts';
import { RemoteCatalogs } from '../../operators/client/index.ts';

const host = 'http://catalogs.example';

/** A Catalog that serves at `http://catalogs.example`. */
export function aServedCatalog(name: string): KubernetesObject {
  return {
    apiVersion: 'catalogd.operatorframework.io/v1alpha1',
    kind: 'Catalog',
    metadata: { name },
    status: {
      conditions: [{ type: 'Unpacked', status: 'True', reason: 'UnpackSuccessful', message: '' }],
      contentURL: `${host}/catalogs/${name}/all.json`,
      resolvedSource: { type: 'image', image: { ref: 'r', resolvedRef: `r@${name}` } },
      packages: 1,
    },
  };
}

export function aServedClusterCatalog(name: string, priority?: number): KubernetesObject {
  const succeeded = { status: 'True', reason: 'Succeeded', message: '' };
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterCatalog',
    metadata: { name },
    spec: priority === undefined ? {} : { priority },
    status: {
      conditions: [
        { type: 'Progressing', ...succeeded },
        { type: 'Serving', ...succeeded, reason: 'Available' },
      ],
      urls: { base: `${host}/catalogs/${name}` },
      resolvedSource: { type: 'Image', image: { ref: `r@${name}` } },
    },
  };
}

/** Lists objects; refuses kinds that `kinds` does not name as an API server without them. */
export function listing(
  objects: readonly KubernetesObject[],
  kinds: readonly string[] = ['Catalog', 'ClusterCatalog'],
) {
  return {
    list: async ({ kind }: Resource) => {
      if (!kinds.includes(kind)) throw new ApiError(404, { message: '404 page not found' });
      const items = objects.filter((object) => object.kind === kind);
      return { metadata: { resourceVersion: '1' }, items };
    },
  };
}

export interface RemoteContent {
  /** Blobs by the name of their catalog, or the failure of its server. */
  readonly blobs: Readonly<Record<string, readonly object[] | Error>>;
  /** Servers that know no parameters. */
  readonly sendsAll?: boolean;
}

/** The catalogs of a cluster, and the paths of the requests to their servers. */
export async function remoteCatalogs(
  objects: readonly KubernetesObject[],
  { blobs, sendsAll = false }: RemoteContent,
): Promise<{ readonly catalogs: RemoteCatalogs; readonly requests: readonly string[] }> {
  const requests: string[] = [];
  const catalogs = await RemoteCatalogs.open({
    client: listing(objects),
    async *read(url) {
      requests.push(url.pathname + url.search);
      const found = blobs[url.pathname.split('/')[2] ?? ''] ?? [];
      if (found instanceof Error) throw found;
      const sent = sendsAll ? found : found.filter((blob) => isAsked(blob, url.searchParams));
      const text = sent.map((blob) => `${JSON.stringify(blob)}\n`).join('');
      // Lines are cut anywhere.
      for (let at = 0; at < text.length; at += 100) yield Buffer.from(text.slice(at, at + 100));
    },
    signal: new AbortController().signal,
  });
  return { catalogs, requests };
}

function isAsked(blob: object, parameters: URLSearchParams): boolean {
  const fields = blob as Readonly<Record<string, unknown>>;
  return [...parameters].every(([name, value]) => fields[name] === value);
}

interface PackageWish {
  readonly versions?: readonly string[];
  readonly metadata?: object;
  readonly properties?: readonly object[];
  /** Of the package. */
  readonly description?: string;
}

/** The blobs of a package with channels `stable` and `old`; each version replaces the one before. */
export function packageOf(
  name: string,
  { versions = ['1.0.0'], metadata, properties = [], description = '' }: PackageWish = {},
): readonly object[] {
  const described = metadata === undefined ? [] : [{ type: 'olm.csv.metadata', value: metadata }];
  const entries = versions.map((version, index) => ({
    name: `${name}.v${version}`,
    ...(index === 0 ? {} : { replaces: `${name}.v${versions[index - 1]}` }),
  }));
  return [
    { schema: 'olm.package', name, defaultChannel: 'stable', description },
    { schema: 'olm.channel', package: name, name: 'old', entries: entries.slice(0, 1) },
    { schema: 'olm.channel', package: name, name: 'stable', entries },
    ...versions.map((version) => ({
      schema: 'olm.bundle',
      package: name,
      name: `${name}.v${version}`,
      image: `example.com/${name}:${version}`,
      properties: [
        { type: 'olm.package', value: { packageName: name, version } },
        ...properties,
        ...described,
      ],
    })),
  ];
}
