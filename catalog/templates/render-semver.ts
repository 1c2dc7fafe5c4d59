import { goQuote } from '../../api/go-quote.ts';
import { type JsonObject, parseJson } from '../../api/json.ts';
import { isMap, stringAt } from '../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { parseVersion, type Version, versionText } from '../../resolver/versions/index.ts';
import type { CatalogConfig, Icon, OlmBundle } from '../blobs/index.ts';
import { type RenderedBundle, ServiceVersion } from '../render/index.ts';
import type { BundleRenderer } from './bundle-renderer.ts';
import { type SemverChannels, semverChannels } from './semver-channels.ts';
import {
  type Archetype,
  archetypes,
  readSemverTemplate,
  type SemverTemplate,
} from './semver-template.ts';

/**
 * Renders a template of schema `olm.semver`: channels by version, and a package with icon and
 * description of its newest bundle.
 */
export async function renderSemver(
  content: Uint8Array,
  renderBundle: BundleRenderer,
): Promise<CatalogConfig> {
  const template = step('render: unable to read file', () => readSemverTemplate(content));
  const bundles = await renderedBundles(template, renderBundle);
  if (bundles.size === 0) {
    throw new TerminalError('render: no bundles specified or no bundles could be rendered');
  }
  const { packageName, versions } = step('render: unable to post-process bundle info', () =>
    versionsOf(template, bundles),
  );
  const linked = semverChannels(packageName, versions, template);
  const shown = shownFields(linked, [...bundles.values()]);
  return {
    packages: [
      {
        schema: 'olm.package',
        name: packageName,
        defaultChannel: linked.defaultChannel,
        description: '',
        properties: [],
        ...shown,
      },
    ],
    channels: linked.channels,
    bundles: [...bundles.values()].map(({ bundle }) => bundle),
    deprecations: [],
    others: [],
  };
}

async function renderedBundles(
  { images }: SemverTemplate,
  renderBundle: BundleRenderer,
): Promise<ReadonlyMap<string, RenderedBundle>> {
  const rendered = new Map<string, RenderedBundle>();
  for (const image of new Set(archetypes.flatMap((archetype) => images[archetype]))) {
    const [bundle, ...more] = await renderBundle(image);
    if (bundle === undefined || more.length > 0) {
      const count = bundle === undefined ? 0 : more.length + 1;
      throw new TerminalError(
        `bundle reference ${goQuote(image)} resulted in ${count} bundles, expected 1`,
      );
    }
    rendered.set(image, bundle);
  }
  return rendered;
}

interface PackageVersions {
  readonly packageName: string;
  readonly versions: Readonly<Record<Archetype, ReadonlyMap<string, Version>>>;
}

function versionsOf(
  { images }: SemverTemplate,
  bundles: ReadonlyMap<string, RenderedBundle>,
): PackageVersions {
  let packageName = '';
  const versions: Record<Archetype, Map<string, Version>> = {
    candidate: new Map(),
    fast: new Map(),
    stable: new Map(),
  };
  for (const archetype of archetypes) {
    for (const image of images[archetype]) {
      const bundle = bundles.get(image)?.bundle;
      if (bundle === undefined) continue;
      const found = packageOf(bundle);
      if (packageName !== '' && found.packageName !== packageName) {
        throw new TerminalError(
          `bundle ${goQuote(found.packageName)} does not belong to this package: ${goQuote(packageName)}`,
        );
      }
      packageName = found.packageName;
      if (versions[archetype].has(bundle.name)) {
        throw new TerminalError(`duplicate bundle name ${goQuote(bundle.name)}`);
      }
      versions[archetype].set(bundle.name, found.version);
    }
    checkOrder(versions[archetype]);
  }
  return { packageName, versions };
}

function packageOf(bundle: OlmBundle): { readonly packageName: string; readonly version: Version } {
  const packages = bundle.properties.filter(({ type }) => type === 'olm.package');
  const [property] = packages;
  if (property === undefined || packages.length > 1) {
    throw new TerminalError(
      `bundle ${goQuote(bundle.name)} has multiple "olm.package" properties, expected exactly 1`,
    );
  }
  const text = stringAt(property.value, 'version') ?? '';
  try {
    const packageName = stringAt(property.value, 'packageName') ?? '';
    return { packageName, version: parseVersion(text) };
  } catch (error) {
    throw new TerminalError(
      `bundle ${goQuote(bundle.name)} has invalid version ${goQuote(text)}: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

/** Versions that differ only in build metadata have no order. */
function checkOrder(versions: ReadonlyMap<string, Version>): void {
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const version of versions.values()) {
    const stripped = versionText({ ...version, build: [] });
    if (seen.has(stripped)) {
      problems.push(
        `bundle version ${goQuote(versionText(version))} cannot be compared to ${goQuote(stripped)}`,
      );
    }
    seen.add(stripped);
  }
  if (problems.length === 0) return;
  const listed = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
  throw new TerminalError(
    `encountered bundle versions which differ only by build metadata, which cannot be ordered: ${listed}`,
  );
}

/** Icon and description of the last bundle of the default channel, if readable. */
function shownFields(
  { channels, defaultChannel }: SemverChannels,
  bundles: readonly RenderedBundle[],
): { readonly description?: string; readonly icon?: Icon } {
  const head = channels.find(({ name }) => name === defaultChannel)?.entries.at(-1)?.name;
  const csv = bundles.find(({ bundle }) => bundle.name === head)?.csv ?? '';
  const object = csv === '' ? undefined : parseJson(csv);
  if (!isMap(object)) return {};
  const description = readable(() => new ServiceVersion(object).description()) ?? '';
  const icon = iconOf(object);
  return {
    ...(description === '' ? {} : { description }),
    ...(icon === undefined ? {} : { icon }),
  };
}

function iconOf(object: JsonObject): Icon | undefined {
  const icons = readable(() => new ServiceVersion(object).icons());
  if (icons === undefined || icons.some(({ base64data }) => !isBase64(base64data)))
    return undefined;
  const [icon] = icons;
  if (icon === undefined) return undefined;
  const base64data = Buffer.from(icon.base64data, 'base64').toString('base64');
  return { base64data, mediatype: icon.mediatype };
}

/** Whether Go decodes it: standard, padded, line breaks anywhere. */
function isBase64(text: string): boolean {
  const plain = text.replaceAll(/[\r\n]/g, '');
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

function readable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function step<Value>(name: string, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    throw new TerminalError(`${name}: ${errorMessage(error)}`, { cause: error });
  }
}
