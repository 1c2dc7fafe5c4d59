export type { BundleRenderer } from './bundle-renderer.ts';
export { type CatalogTemplateType, templateOfCatalog } from './catalog-template.ts';
export { renderTemplate, templateTypes } from './template.ts';
