import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import type { CatalogConfig } from '../blobs/index.ts';
import type { BundleRenderer } from './bundle-renderer.ts';
import { renderBasic } from './render-basic.ts';
import { renderSemver } from './render-semver.ts';
import { renderSubstitutes } from './render-substitutes.ts';
import { schemaOfTemplate } from './template-entries.ts';

type RenderTemplate = (content: Uint8Array, renderBundle: BundleRenderer) => Promise<CatalogConfig>;

const templates: Readonly<Record<string, RenderTemplate>> = {
  'olm.template.basic': renderBasic,
  'olm.semver': renderSemver,
  'olm.template.substitutes': renderSubstitutes,
};

/** Types of templates, as opm's command lines name them. */
export const templateTypes: readonly string[] = Object.keys(templates).map(typeOf).toSorted();

function typeOf(schema: string): string {
  return schema.slice(schema.lastIndexOf('.') + 1);
}

/**
 * Renders a template to a catalog.
 * @param type one of `templateTypes`; defaults to that of the template's schema
 */
export async function renderTemplate(
  content: Uint8Array,
  renderBundle: BundleRenderer,
  type?: string,
): Promise<CatalogConfig> {
  const schema =
    type === undefined
      ? schemaOfTemplate(content)
      : Object.keys(templates).find((each) => typeOf(each) === type);
  const render =
    schema !== undefined && Object.hasOwn(templates, schema) ? templates[schema] : undefined;
  if (render !== undefined) return await render(content, renderBundle);
  throw new TerminalError(
    type === undefined
      ? `unknown template schema: ${schema}`
      : `unknown template type: ${goQuote(type)}`,
  );
}
