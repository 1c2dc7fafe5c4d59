/** A second door of the webhooks: the schemas of CRDs, without the servers. */
export type { JsonSchema } from './crd-upgrade/schema/json-schema.ts';
export { bounded, validateObject } from './crd-upgrade/schema/validate.ts';
