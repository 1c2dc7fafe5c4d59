export type { AvailableBundle } from '../../available-bundle.ts';
export type { Condition, KubernetesObject, ObjectMeta } from '../../meta.ts';
export * from './cluster-catalog.ts';
export * from './cluster-extension.ts';
export * from './conditions.ts';
export * from './resources.ts';
