export type { Condition, KubernetesObject, ObjectMeta } from '../../meta.ts';
export type { AvailableBundle } from '../../operators/v1alpha1/available-bundle.ts';
export * from './cluster-catalog.ts';
export * from './cluster-extension.ts';
export * from './conditions.ts';
export * from './resources.ts';
