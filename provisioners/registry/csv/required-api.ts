import type { Field } from './field.ts';

/** One of spec.apiservicedefinitions.required or spec.nativeAPIs: a kind that the operator needs. */
export interface RequiredApi {
  /** Empty for the core API. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export function readRequiredApi(api: Field): RequiredApi {
  return {
    group: api.get('group').string(),
    version: api.get('version').string(),
    kind: api.get('kind').string(),
  };
}
