export type { RenderedBundle } from './bundle-directory.ts';
export { checkEmpty, writeCatalogFiles } from './catalog-files.ts';
export { displayNameOf } from './csv-metadata.ts';
export { describedCsv } from './described-csv.ts';
export { firstDocument } from './first-document.ts';
export { type ImageTemplate, imageTemplate } from './image-template.ts';
export { type MigrateOptions, migrateCatalog } from './migrated-catalog.ts';
export { type Migration, migrations, migrationsUpTo, operatorNameOf } from './migrations.ts';
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
export { ServiceVersion } from './service-version.ts';
export { SpooledCatalog, type WriteCatalog } from './spooled-catalog.ts';
