import type { Field } from './field.ts';

/** An entry of spec.customresourcedefinitions: a kind that the operator brings or needs. */
export interface CrdDescription {
  /** `<plural>.<group>` */
  readonly name: string;
  readonly version: string;
  readonly kind: string;
}

export function readCrdDescription(description: Field): CrdDescription {
  return {
    name: description.get('name').string(),
    version: description.get('version').string(),
    kind: description.get('kind').string(),
  };
}
