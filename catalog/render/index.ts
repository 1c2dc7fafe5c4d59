export type { RenderedBundle } from './bundle/bundle-directory.ts';
export { checkEmpty, writeCatalogFiles } from './catalog-files.ts';
export { displayNameOf } from './csv/csv-metadata.ts';
export { describedCsv, describedMetadata } from './csv/described-csv.ts';
export { ServiceVersion } from './csv/service-version.ts';
export { firstDocument } from './first-document.ts';
export { type ImageTemplate, imageTemplate } from './image-template.ts';
export {
  type CatalogPart,
  catalogKinds,
  KindNotAllowed,
  partsOfReference,
  type ReferenceKind,
} from './reference.ts';
export {
  type RenderOptions,
  renderBundleImage,
  renderedParts,
  renderReference,
} from './render.ts';
export { type MigrateOptions, migrateCatalog } from './sqlite/migrated-catalog.ts';
export {
  embeddedCsv,
  type Migration,
  migrations,
  migrationsUpTo,
  operatorNameOf,
} from './sqlite/migrations.ts';
export { SpooledCatalog, type WriteCatalog } from './sqlite/spooled-catalog.ts';
