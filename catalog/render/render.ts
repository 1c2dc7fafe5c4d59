import { errorMessage, TerminalError } from '../../core/errors.ts';
import type { CatalogConfig, OlmBundle } from '../blobs/index.ts';
import type { RenderedBundle } from './bundle/bundle-directory.ts';
import { type CatalogPart, partsOfReference, type ReferenceOptions } from './reference.ts';
import type { Migration } from './sqlite/migrations.ts';

export interface RenderOptions extends ReferenceOptions {
  /** Changes to each bundle, in their order; defaults to none. */
  readonly migrations?: readonly Migration[] | undefined;
}

/**
 * The content of references, one after another, piece by piece.
 * @throws TerminalError `render reference "…": …`, `migrate: …`
 */
export async function* renderedParts(
  references: readonly string[],
  options: RenderOptions,
): AsyncGenerator<CatalogConfig> {
  for (const reference of references) {
    for await (const part of partsOfReference(reference, options)) {
      const bundles = part.config.bundles.map((bundle) => migrated(bundle, part, options));
      yield { ...part.config, bundles };
    }
  }
}

/** The whole content of a reference, in memory. */
export async function renderReference(
  reference: string,
  options: RenderOptions,
): Promise<CatalogConfig> {
  const parts: CatalogConfig[] = [];
  for await (const part of renderedParts([reference], options)) parts.push(part);
  return {
    packages: parts.flatMap(({ packages }) => packages),
    channels: parts.flatMap(({ channels }) => channels),
    bundles: parts.flatMap(({ bundles }) => bundles),
    deprecations: parts.flatMap(({ deprecations }) => deprecations),
    others: parts.flatMap(({ others }) => others),
  };
}

/** The bundles of a bundle's image, for templates. */
export async function renderBundleImage(
  image: string,
  options: RenderOptions,
): Promise<readonly RenderedBundle[]> {
  const bundles: RenderedBundle[] = [];
  const allowed = new Set(['bundle image'] as const);
  for await (const part of partsOfReference(image, { ...options, allowed })) {
    for (const bundle of part.config.bundles) {
      bundles.push({ bundle: migrated(bundle, part, options), csv: part.csvOf(bundle) });
    }
  }
  return bundles;
}

function migrated(
  bundle: OlmBundle,
  { csvOf }: CatalogPart,
  { migrations = [] }: RenderOptions,
): OlmBundle {
  if (migrations.length === 0) return bundle;
  try {
    const csv = csvOf(bundle);
    return migrations.reduce((changed, { migrate }) => migrate(changed, csv), bundle);
  } catch (error) {
    throw new TerminalError(`migrate: ${errorMessage(error)}`, { cause: error });
  }
}
