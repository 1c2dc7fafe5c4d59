import { rangeProblem } from '../../../resolver/versions/index.ts';
import {
  type Blob,
  decodeBundle,
  decodeChannel,
  decodeDeprecations,
  decodePackage,
  type Icon,
  iconMediaType,
  type OlmBundle,
} from '../../blobs/index.ts';
import { type BundleOutline, bundleOutline } from '../catalog-outline.ts';
import { Requirements } from '../requirement.ts';
import { textAt } from '../written-fields.ts';
import type {
  LintBundle,
  LintCatalog,
  LintChannel,
  LintDeprecation,
  LintPackage,
  OwnBlob,
} from './lint-model.ts';

/**
 * The facts of a catalog that rules check. Of duplicate names the last counts: `catalog validate`
 * refuses them.
 * @throws BlobError for an unreadable blob
 */
export async function lintFacts(blobs: AsyncIterable<Blob>): Promise<LintCatalog> {
  const packages = new Map<string, OpenPackage>();
  const requirements = new Requirements();
  for await (const blob of blobs) {
    const name = blob.schema === 'olm.package' ? blob.name : blob.package;
    const found = packages.get(name) ?? openPackage(name);
    packages.set(name, found);
    add(found, blob, requirements);
  }
  return { packages, providers: providersOf(packages) };
}

interface OpenPackage extends LintPackage {
  own: OwnBlob | undefined;
  readonly channels: Map<string, LintChannel>;
  readonly bundles: Map<string, LintBundle>;
  readonly deprecations: LintDeprecation[];
  readonly others: LintPackage['others'][number][];
}

function openPackage(name: string): OpenPackage {
  return {
    name,
    own: undefined,
    channels: new Map(),
    bundles: new Map(),
    deprecations: [],
    others: [],
  };
}

function add(open: OpenPackage, blob: Blob, requirements: Requirements): void {
  const { place, schema } = blob;
  switch (schema) {
    case 'olm.package':
      open.own = ownBlob(blob);
      break;
    case 'olm.channel': {
      const { name, entries } = decodeChannel(blob);
      const byName = new Map(entries.map((entry) => [entry.name, entry]));
      open.channels.set(name, { name, place, entries: byName });
      break;
    }
    case 'olm.bundle': {
      const bundle = decodeBundle(blob);
      const outline = bundleOutline(bundle, requirements);
      open.bundles.set(bundle.name, { ...outline, place, ...bundleFacts(bundle) });
      break;
    }
    case 'olm.deprecations':
      decodeDeprecations(blob).entries.forEach(({ reference }, index) => {
        open.deprecations.push({ ...reference, place, path: ['entries', index] });
      });
      break;
    default:
      open.others.push({ schema, place });
  }
}

function ownBlob(blob: Blob): OwnBlob {
  const { defaultChannel, description, icon } = decodePackage(blob);
  return {
    place: blob.place,
    defaultChannel,
    hasDescription: description !== '',
    icon: icon === undefined ? undefined : iconFacts(icon),
  };
}

function iconFacts({ base64data, mediatype }: Icon): OwnBlob['icon'] {
  if (base64data === null || base64data === '') return undefined;
  return { declared: mediatype, found: iconMediaType(Buffer.from(base64data, 'base64')) };
}

type BundleFacts = Omit<LintBundle, keyof BundleOutline | 'place'>;

function bundleFacts({ image, relatedImages, properties }: OlmBundle): BundleFacts {
  const images = [image, ...relatedImages.map((related) => related.image)];
  return {
    tags: images.filter((each) => each !== '' && !digest.test(each)),
    metadata: properties.filter(({ type }) => type === 'olm.csv.metadata').length,
    hasObjects: properties.some(({ type }) => type === 'olm.bundle.object'),
    badRanges: properties.flatMap(({ type, value }, index) => {
      if (type !== 'olm.package.required') return [];
      const problem = rangeProblem(textAt(value, 'versionRange'));
      return problem === undefined ? [] : [{ problem, path: ['properties', index] }];
    }),
  };
}

const digest = /@[\w.+-]+:[0-9A-Fa-f]{32,}$/;

function providersOf(
  packages: ReadonlyMap<string, LintPackage>,
): ReadonlyMap<string, readonly BundleOutline[]> {
  const providers = new Map<string, BundleOutline[]>();
  for (const { bundles } of packages.values()) {
    for (const bundle of bundles.values()) {
      for (const provider of bundle.provides) {
        const found = providers.get(provider);
        if (found === undefined) providers.set(provider, [bundle]);
        else found.push(bundle);
      }
    }
  }
  return providers;
}
