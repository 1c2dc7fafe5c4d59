export { type BundleFacts, type RenderedBundle, renderBundle } from './bundle-directory.ts';
export { type ImageTemplate, imageTemplate, templatedImage } from './image-template.ts';
export { type Migration, migrations, migrationsUpTo } from './migrations.ts';
export { ServiceVersion } from './service-version.ts';
export { type DatabaseCatalog, isDatabase, renderDatabase } from './sqlite.ts';
