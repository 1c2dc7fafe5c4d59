export type { BundleRenderer } from './bundle-renderer.ts';
export {
  type CatalogFile,
  type CatalogTemplateType,
  templateOfCatalog,
} from './catalog-template.ts';
export { renderTemplate, templateTypes } from './template.ts';
