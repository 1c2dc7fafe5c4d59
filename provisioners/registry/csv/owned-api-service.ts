import type { Field } from './field.ts';

/** One of spec.apiservicedefinitions.owned, with OLM's defaults where a field is absent. */
export interface OwnedApiService {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly deploymentName: string;
  /** 443 where absent. */
  readonly containerPort: number;
}

const defaultPort = 443;

export function readOwnedApiService(description: Field): OwnedApiService {
  return {
    name: description.get('name').string(),
    group: description.get('group').string(),
    version: description.get('version').string(),
    kind: description.get('kind').string(),
    deploymentName: description.get('deploymentName').string(),
    containerPort: description.get('containerPort').integer() || defaultPort,
  };
}
