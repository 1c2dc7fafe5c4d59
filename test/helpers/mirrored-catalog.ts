import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { pushImage } from './push-image.ts';
import { rukpakctl } from './rukpakctl.ts';

/** An operator whose bundle names an image in each of the places where bundles name images. */
export interface TestOperator {
  readonly name: string;
  readonly versions: readonly string[];
  /** Value of the property `olm.csv.metadata` of each bundle (default: none). */
  readonly metadata?: object;
  /** Versions by channel, each of which replaces the one before (default: all in `stable`). */
  readonly channels?: Readonly<Record<string, readonly string[]>>;
  /** Messages by the versions that are deprecated. */
  readonly deprecated?: Readonly<Record<string, string>>;
  /** Kind of `example.com/v1`, whose CRD each bundle brings (default: none). */
  readonly kind?: string;
  /** Further properties of each bundle. */
  readonly properties?: readonly { readonly type: string; readonly value: object }[];
  /** Further manifests of the bundle of a version, by the names of their files. */
  readonly manifests?: (version: string) => Readonly<Record<string, object>>;
  /** Fields of the pods of a version. */
  readonly pods?: (version: string) => object;
}

/** Where the images of a test catalog are. */
interface TestPlace {
  /** `host:port` */
  readonly registry: string;
  /** Before the path of each image, with a slash at its end. */
  readonly prefix?: string;
  readonly catalog?: string;
}

/**
 * Pushes the bundles and images of operators to a registry, and their catalog: each has the channel
 * stable with all versions, one after the other.
 */
export async function pushTestCatalog(
  place: TestPlace,
  operators: readonly TestOperator[],
): Promise<string> {
  const { registry, prefix = '', catalog = 'catalogs/test:v1' } = place;
  const folder = await mkdtemp(join(tmpdir(), 'rukpak-catalog-'));
  try {
    for (const operator of operators) {
      await mkdir(join(folder, operator.name));
      const blobs = await blobsOf({ registry, prefix }, operator);
      const text = blobs.map((blob) => JSON.stringify(blob)).join('\n');
      await writeFile(join(folder, operator.name, 'catalog.json'), text);
    }
    const image = `${registry}/${prefix}${catalog}`;
    const built = await rukpakctl([
      'catalog',
      'build',
      folder,
      '--to',
      image,
      '--insecure-registry',
      registry,
    ]);
    if (built.code !== 0) throw new Error(built.stderr);
    return image;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Images = Pick<Required<TestPlace>, 'registry' | 'prefix'>;

async function blobsOf(images: Images, operator: TestOperator): Promise<readonly object[]> {
  const { name, versions, metadata, properties = [], channels = { stable: versions } } = operator;
  const described = [
    ...(metadata === undefined ? [] : [{ type: 'olm.csv.metadata', value: metadata }]),
    ...properties,
  ];
  const bundles: object[] = [];
  for (const version of versions) {
    const image = await pushBundle(images, operator, version);
    bundles.push({
      schema: 'olm.bundle',
      name: `${name}.v${version}`,
      package: name,
      image,
      properties: [{ type: 'olm.package', value: { packageName: name, version } }, ...described],
      relatedImages: [{ name: 'related', image: imageOf(images, `${name}/related:v${version}`) }],
    });
  }
  return [
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    ...Object.entries(channels).map(([channel, members]) => ({
      schema: 'olm.channel',
      name: channel,
      package: name,
      entries: entriesOf(name, members),
    })),
    ...bundles,
    ...deprecationsOf(operator),
  ];
}

function entriesOf(name: string, versions: readonly string[]): readonly object[] {
  return versions.map((version, index) => ({
    name: `${name}.v${version}`,
    ...(index === 0 ? {} : { replaces: `${name}.v${versions[index - 1]}` }),
  }));
}

function deprecationsOf({ name, deprecated }: TestOperator): readonly object[] {
  if (deprecated === undefined) return [];
  const entries = Object.entries(deprecated).map(([version, message]) => ({
    reference: { schema: 'olm.bundle', name: `${name}.v${version}` },
    message,
  }));
  return [{ schema: 'olm.deprecations', package: name, entries }];
}

/** @returns its reference by digest */
async function pushBundle(
  images: Images,
  operator: TestOperator,
  version: string,
): Promise<string> {
  const { name } = operator;
  const { registry, prefix } = images;
  for (const part of ['operator', 'operand', 'related']) {
    const layers = [{ files: { [part]: `${name} ${version}` } }];
    await pushImage({
      registry,
      repository: `${prefix}${name}/${part}`,
      tag: `v${version}`,
      layers,
    });
  }
  const files = testBundleFiles(images, operator, version);
  const layers = [{ files }];
  const pushed = { registry, repository: `${prefix}${name}/bundle`, tag: `v${version}`, layers };
  const { digest } = await pushImage(pushed);
  return imageOf(images, `${name}/bundle@${digest}`);
}

/** The files of one of its bundles. */
export function testBundleFiles(
  { registry, prefix = '' }: TestPlace,
  operator: TestOperator,
  version: string,
): Readonly<Record<string, string>> {
  const { name, kind } = operator;
  const annotations = { 'operators.operatorframework.io.bundle.package.v1': name };
  return {
    'manifests/csv.yaml': stringify(csv({ registry, prefix }, operator, version)),
    'metadata/annotations.yaml': stringify({ annotations }),
    ...(kind === undefined ? {} : { 'manifests/crd.yaml': stringify(definitionOf(kind)) }),
    ...furtherManifests(operator, version),
  };
}

function furtherManifests({ manifests }: TestOperator, version: string): Record<string, string> {
  const files = Object.entries(manifests?.(version) ?? {});
  return Object.fromEntries(
    files.map(([name, object]) => [`manifests/${name}`, stringify(object)]),
  );
}

function imageOf({ registry, prefix }: Images, image: string): string {
  return `${registry}/${prefix}${image}`;
}

function csv(images: Images, operator: TestOperator, version: string): object {
  const { name, kind, pods } = operator;
  const image = (part: string): string => imageOf(images, `${name}/${part}:v${version}`);
  const container = {
    name: 'operator',
    image: image('operator'),
    env: [{ name: 'RELATED_IMAGE_OPERAND', value: image('operand') }],
  };
  const labels = { app: name };
  const podSpec = { containers: [container], ...pods?.(version) };
  const template = { metadata: { labels }, spec: podSpec };
  const spec = { selector: { matchLabels: labels }, template };
  const owned =
    kind === undefined ? [] : [{ name: `${pluralOf(kind)}.example.com`, kind, version: 'v1' }];
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: `${name}.v${version}` },
    spec: {
      version,
      installModes: [{ type: 'AllNamespaces', supported: true }],
      customresourcedefinitions: { owned },
      install: { strategy: 'deployment', spec: { deployments: [{ name, spec }] } },
    },
  };
}

function pluralOf(kind: string): string {
  return `${kind.toLowerCase()}s`;
}

function definitionOf(kind: string): object {
  const plural = pluralOf(kind);
  const schema = { openAPIV3Schema: { type: 'object' } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
