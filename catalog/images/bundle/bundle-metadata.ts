import { parseYaml } from '../../../core/manifests/index.ts';

/** Metadata of a bundle, in its annotations and the labels of its image. */
export interface BundleMetadata {
  /** `registry+v1`, `plain` or `helm`. */
  readonly mediaType: string;
  readonly packageName: string;
  /** Channel names, separated by commas. */
  readonly channels: string;
  /** Empty for none. */
  readonly defaultChannel: string;
}

const prefix = 'operators.operatorframework.io.bundle.';

/** Annotations of a bundle, and labels of its image, in the order of opm's Dockerfiles. */
export function bundleLabels(metadata: BundleMetadata): ReadonlyMap<string, string> {
  const { mediaType, packageName, channels, defaultChannel } = metadata;
  const labels = new Map([
    ['mediatype', mediaType],
    ['manifests', 'manifests/'],
    ['metadata', 'metadata/'],
    ['package', packageName],
    ['channels', channels],
  ]);
  if (defaultChannel !== '') labels.set('channel.default', defaultChannel);
  return new Map([...labels].map(([name, value]) => [`${prefix}${name}.v1`, value]));
}

/** `metadata/annotations.yaml` as opm writes it. */
export function bundleAnnotations(metadata: BundleMetadata): string {
  const entries = [...bundleLabels(metadata)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lines = entries.map(([key, value]) => `  ${key}: ${yamlText(value)}\n`);
  return `annotations:\n${lines.join('')}`;
}

/**
 * A YAML scalar: plain if YAML reads the same text, in double quotes if it reads another type, else
 * in single quotes.
 */
function yamlText(text: string): string {
  if (text === '' || isBase60.test(text)) return JSON.stringify(text);
  try {
    const value = parseYaml(text);
    if (value === text) return text;
    if (typeof value !== 'object' && typeof value !== 'string') return JSON.stringify(text);
  } catch {
    // Invalid YAML without quotes.
  }
  return `'${text.replaceAll("'", "''")}'`;
}

/** YAML 1.1 parsers read 12:30 as a number. */
const isBase60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

export interface BundleDockerfile extends BundleMetadata {
  readonly baseImage: string;
  /** Folders relative to the build context. */
  readonly manifests: string;
  readonly metadata: string;
}

/** `bundle.Dockerfile` as opm writes it. */
export function bundleDockerfile(options: BundleDockerfile): string {
  const { baseImage, manifests, metadata, defaultChannel } = options;
  const labels = [...bundleLabels(options)].map(([key, value]) => `LABEL ${key}=${value}\n`);
  const gap = defaultChannel === '' ? '' : '\n';
  const copies = `COPY ${manifests} /manifests/\nCOPY ${metadata} /metadata/\n`;
  return `FROM ${baseImage}\n\n${labels.join('')}${gap}${copies}`;
}
