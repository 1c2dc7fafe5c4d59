import { goQuote } from '../../api/go-quote.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import type { CatalogConfig, ChannelEntry, OlmChannel } from '../blobs/index.ts';
import { toConfig } from '../load/index.ts';
import type { RenderedBundle } from '../render/index.ts';
import { validateParts } from '../validate/index.ts';
import type { BundleRenderer } from './bundle-renderer.ts';
import { readEntries, type Substitution } from './template-entries.ts';
import { compareReleases, versionRelease } from './version-release.ts';

/**
 * Renders a template of schema `olm.template.substitutes`: a catalog in which some bundles replace
 * others in channels.
 */
export async function renderSubstitutes(
  content: Uint8Array,
  renderBundle: BundleRenderer,
): Promise<CatalogConfig> {
  const { blobs, substitutions } = await step('render: unable to parse template', () =>
    readEntries(content, 'olm.template.substitutes'),
  );
  let config = await step('render: unable to create declarative config from entries', () =>
    toConfig(blobs()),
  );
  await step('render: entries are not valid FBC', () => validate(config));
  const bases = new Map<string, string>();
  for (const { name, base } of substitutions) {
    if ([...bases.values()].includes(base)) {
      throw new TerminalError(`render: cannot reuse the same substitution base ${goQuote(base)}`);
    }
    const other = bases.get(name);
    if (other !== undefined) {
      const both = `(${goQuote(other)} and ${goQuote(base)})`;
      throw new TerminalError(
        `render: cannot reuse the same substitution ${goQuote(name)} for different bases ${both}`,
      );
    }
    bases.set(name, base);
    const before = config;
    config = await step(
      `render: error processing substitution ${goQuote(base)} -> ${goQuote(name)}`,
      () => substituted(before, { name, base }, renderBundle),
    );
  }
  return config;
}

async function substituted(
  config: CatalogConfig,
  substitution: Substitution,
  renderBundle: BundleRenderer,
): Promise<CatalogConfig> {
  const { name, base } = substitution;
  checkNames(substitution);
  const [bundle] = await step(`failed to render bundle image reference ${goQuote(name)}`, () =>
    renderBundle(name),
  );
  if (bundle === undefined) {
    throw new TerminalError(`rendered bundle image reference ${goQuote(name)} contains no bundles`);
  }
  await checkOrder(config, substitution, bundle);
  const changed = {
    ...config,
    bundles: [...config.bundles, bundle.bundle],
    channels: config.channels.map((channel) => withSubstitute(channel, bundle.bundle.name, base)),
  };
  await step('resulting config is not valid FBC', () => validate(changed));
  return changed;
}

function checkNames({ name, base }: Substitution): void {
  if (name === '') throw new TerminalError('substitution name cannot be empty');
  if (base === '') throw new TerminalError('substitution base cannot be empty');
  if (name === base) throw new TerminalError('substitution name and base cannot be the same');
}

async function checkOrder(
  config: CatalogConfig,
  { name, base }: Substitution,
  substitute: RenderedBundle,
): Promise<void> {
  const above = await step(
    `failed to get VersionRelease for substitute bundle ${goQuote(name)}`,
    () => versionRelease(substitute),
  );
  const bundle = config.bundles.find((each) => each.name === base);
  if (bundle === undefined) {
    throw new TerminalError(`base bundle ${goQuote(base)} does not exist in catalog`);
  }
  const below = await step(`failed to get VersionRelease for base bundle ${goQuote(base)}`, () =>
    versionRelease({ bundle, csv: '' }),
  );
  if (compareReleases(below, above) < 0) return;
  throw new TerminalError(
    `base bundle ${goQuote(base)} is not less than substitute bundle ${goQuote(name)}`,
  );
}

/**
 * The substitute gets the edges of its base, and skips it; edges to the base lead to it instead.
 */
function withSubstitute(channel: OlmChannel, name: string, base: string): OlmChannel {
  const added = channel.entries
    .filter((entry) => entry.name === base)
    .toReversed()
    .map((entry) => ({ ...entry, name, skips: [...entry.skips, base] }));
  const entries = channel.entries.map((entry) =>
    entry.name === base
      ? { name: base, replaces: '', skips: [], skipRange: '' }
      : redirected(entry, name, base),
  );
  return { ...channel, entries: [...entries, ...added] };
}

function redirected(entry: ChannelEntry, name: string, base: string): ChannelEntry {
  if (entry.replaces === base) return { ...entry, replaces: name, skips: [...entry.skips, base] };
  if (!entry.skips.includes(base)) return entry;
  return { ...entry, skips: [...entry.skips, name].filter((skip) => skip !== base) };
}

async function validate(config: CatalogConfig): Promise<void> {
  await validateParts([config]);
}

async function step<Value>(name: string, run: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    throw new TerminalError(`${name}: ${errorMessage(error)}`, { cause: error });
  }
}
