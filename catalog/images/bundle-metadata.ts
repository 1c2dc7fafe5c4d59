import { parseYaml } from '../../core/manifests/index.ts';

/** What a bundle image says of itself, in annotations and labels. */
export interface BundleMetadata {
  /** `registry+v1`, `plain` or `helm`. */
  readonly mediaType: string;
  readonly packageName: string;
  /** Separated by commas. */
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

/** In quotes where it would be read as something else: as a value of another type in double ones. */
function yamlText(text: string): string {
  if (text === '' || isBase60.test(text)) return JSON.stringify(text);
  try {
    const value = parseYaml(text);
    if (value === text) return text;
    if (typeof value !== 'object' && typeof value !== 'string') return JSON.stringify(text);
  } catch {
    // Not to be written without quotes.
  }
  return `'${text.replaceAll("'", "''")}'`;
}

/** Older readers of YAML take 12:30 for a number. */
const isBase60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

export interface BundleDockerfile extends BundleMetadata {
  readonly baseImage: string;
  /** Folders relative to where the image is built. */
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
