import type { CatalogConfig, ChannelEntry, DeprecationEntry } from '../../catalog/blobs/index.ts';

const none: CatalogConfig = {
  packages: [],
  channels: [],
  bundles: [],
  deprecations: [],
  others: [],
};

/** Pieces of a catalog with one package, `p`, as they are read. */
export function packagePart(defaultChannel: string): CatalogConfig {
  const added = { name: 'p', defaultChannel, description: '', properties: [] };
  return { ...none, packages: [{ schema: 'olm.package', ...added }] };
}

export function channelPart(
  name: string,
  entries: readonly (Partial<ChannelEntry> & { readonly name: string })[],
): CatalogConfig {
  const whole = entries.map((each) => ({ replaces: '', skips: [], skipRange: '', ...each }));
  const added = { package: 'p', name, entries: whole, properties: [] };
  return { ...none, channels: [{ schema: 'olm.channel', ...added }] };
}

export function bundlePart(name: string, version: string): CatalogConfig {
  const properties = [{ type: 'olm.package', value: { packageName: 'p', version } }];
  const added = { name, package: 'p', image: `q.io/${name}`, properties, relatedImages: [] };
  return { ...none, bundles: [{ schema: 'olm.bundle', ...added }] };
}

/** Deprecates what references such as `olm.bundle p.v1` name, in words that say so. */
export function deprecationPart(...references: readonly string[]): CatalogConfig {
  const entries = references.map((reference): DeprecationEntry => {
    const [schema = '', name = ''] = reference.split(' ');
    return { reference: { schema, name }, message: `No more ${name || 'p'}.` };
  });
  return { ...none, deprecations: [{ schema: 'olm.deprecations', package: 'p', entries }] };
}
