/** Whether objects fit the schemas of CRDs, in the API server's words (ADR 13). */
export type { JsonSchema } from './json-schema.ts';
export { bounded, validateObject } from './validate.ts';
