export type { Condition, KubernetesObject, ObjectMeta } from '../../meta.ts';
export type { AvailableBundle } from './available-bundle.ts';
export * from './conditions.ts';
export * from './operator.ts';
export * from './resources.ts';
