export { validateCatalog } from './validate-catalog.ts';
