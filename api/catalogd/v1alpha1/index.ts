export type { Condition, KubernetesObject, ObjectMeta } from '../../meta.ts';
export * from './catalog.ts';
export * from './conditions.ts';
export * from './resources.ts';
