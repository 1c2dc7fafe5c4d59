export { packageProperties } from './bundle-facts.ts';
export { type ChainEntry, chainProblem, channelHeads } from './replaces-chain.ts';
export { type CatalogSize, validateCatalog, validateParts } from './validate-catalog.ts';
