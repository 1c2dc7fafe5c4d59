export { toConfig } from './catalog-config.ts';
export { loadDirectory } from './load-directory.ts';
