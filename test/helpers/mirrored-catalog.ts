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

async function blobsOf(
  images: Images,
  { name, versions, metadata }: TestOperator,
): Promise<readonly object[]> {
  const described = metadata === undefined ? [] : [{ type: 'olm.csv.metadata', value: metadata }];
  const bundles: object[] = [];
  for (const version of versions) {
    const image = await pushBundle(images, name, version);
    bundles.push({
      schema: 'olm.bundle',
      name: `${name}.v${version}`,
      package: name,
      image,
      properties: [{ type: 'olm.package', value: { packageName: name, version } }, ...described],
      relatedImages: [{ name: 'related', image: imageOf(images, `${name}/related:v${version}`) }],
    });
  }
  const entries = versions.map((version, index) => ({
    name: `${name}.v${version}`,
    ...(index === 0 ? {} : { replaces: `${name}.v${versions[index - 1]}` }),
  }));
  return [
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', name: 'stable', package: name, entries },
    ...bundles,
  ];
}

/** @returns its reference by digest */
async function pushBundle(images: Images, name: string, version: string): Promise<string> {
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
  const annotations = { 'operators.operatorframework.io.bundle.package.v1': name };
  const files = {
    'manifests/csv.yaml': stringify(csv(images, name, version)),
    'metadata/annotations.yaml': stringify({ annotations }),
  };
  const layers = [{ files }];
  const pushed = { registry, repository: `${prefix}${name}/bundle`, tag: `v${version}`, layers };
  const { digest } = await pushImage(pushed);
  return imageOf(images, `${name}/bundle@${digest}`);
}

function imageOf({ registry, prefix }: Images, image: string): string {
  return `${registry}/${prefix}${image}`;
}

function csv(images: Images, name: string, version: string): object {
  const image = (part: string): string => imageOf(images, `${name}/${part}:v${version}`);
  const container = {
    name: 'operator',
    image: image('operator'),
    env: [{ name: 'RELATED_IMAGE_OPERAND', value: image('operand') }],
  };
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const spec = { selector: { matchLabels: labels }, template };
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: `${name}.v${version}` },
    spec: {
      version,
      installModes: [{ type: 'AllNamespaces', supported: true }],
      install: { strategy: 'deployment', spec: { deployments: [{ name, spec }] } },
    },
  };
}
